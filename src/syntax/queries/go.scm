(type_spec name: (type_identifier) @name type: (struct_type)) @def.struct
(type_spec name: (type_identifier) @name type: (interface_type)) @def.interface
(type_spec name: (type_identifier) @name type: (_) @type) @def.type
(type_alias name: (type_identifier) @name type: (_) @type) @def.type
(function_declaration name: (identifier) @name result: (_)? @type) @def.function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @container)) name: (field_identifier) @name result: (_)? @type) @def.method
(method_elem name: (field_identifier) @name result: (_)? @type) @def.method
(field_declaration name: (field_identifier) @name type: (_) @type) @def.field
(parameter_declaration name: (identifier) @name type: (_) @type) @def.parameter
(variadic_parameter_declaration name: (identifier) @name type: (_) @type) @def.parameter
(const_spec name: (identifier) @name value: (_)? @value) @def.constant
(var_spec name: (identifier) @name type: (_)? @type value: (_)? @value) @def.variable
(short_var_declaration left: (expression_list (identifier) @name) right: (_) @value) @def.variable
(range_clause left: (expression_list (identifier) @name) right: (_) @element) @def.variable
(type_switch_statement alias: (expression_list (identifier) @name)) @def.variable
(type_parameter_declaration name: (identifier) @name) @def.typeparam
[(block) (func_literal) (for_statement) (if_statement) (expression_switch_statement) (type_switch_statement) (expression_case) (type_case) (communication_case)] @scope
[(comment) (interpreted_string_literal_content) (raw_string_literal_content)] @quiet
(import_spec) @import
