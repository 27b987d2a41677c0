(class_declaration name: (identifier) @name (base_list)? @bases) @def.class
(record_declaration name: (identifier) @name (base_list)? @bases) @def.class
(struct_declaration name: (identifier) @name (base_list)? @bases) @def.struct
(interface_declaration name: (identifier) @name (base_list)? @bases) @def.interface
(enum_declaration name: (identifier) @name) @def.enum
(enum_member_declaration name: (identifier) @name) @def.member
(namespace_declaration name: (_) @name) @def.module
(delegate_declaration name: (identifier) @name) @def.type
(method_declaration returns: (_) @type name: (identifier) @name) @def.method
(local_function_statement type: (_) @type name: (identifier) @name) @def.function
(constructor_declaration name: (identifier) @name) @def.constructor
(property_declaration type: (_) @type name: (identifier) @name) @def.property
(event_declaration type: (_) @type name: (identifier) @name) @def.property
(field_declaration (variable_declaration type: (_) @type (variable_declarator name: (identifier) @name))) @def.field
(event_field_declaration (variable_declaration type: (_) @type (variable_declarator name: (identifier) @name))) @def.field
(local_declaration_statement (variable_declaration type: (_) @type (variable_declarator name: (identifier) @name (_)? @value))) @def.variable
(parameter type: (_)? @type name: (identifier) @name) @def.parameter
(foreach_statement type: (_) @type left: (identifier) @name right: (_) @element) @def.variable
(catch_declaration type: (_) @type name: (identifier) @name) @def.variable
(declaration_expression type: (_) @type name: (identifier) @name) @def.variable
(declaration_pattern type: (_) @type name: (identifier) @name) @def.variable
(type_parameter name: (identifier) @name) @def.typeparam
[(block) (for_statement) (foreach_statement) (lambda_expression) (catch_clause) (using_statement)] @scope
[(comment) (string_literal_content) (character_literal)] @quiet
(using_directive) @import
