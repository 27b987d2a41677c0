(type_definition type: (struct_specifier !name body: (_)) declarator: (type_identifier) @name) @def.struct
(type_definition type: (union_specifier !name body: (_)) declarator: (type_identifier) @name) @def.struct
(type_definition type: (enum_specifier !name body: (_)) declarator: (type_identifier) @name) @def.enum
(class_specifier name: (_) @name (base_class_clause)? @bases body: (_)) @def.class
(struct_specifier name: (_) @name (base_class_clause)? @bases body: (_)) @def.struct
(union_specifier name: (type_identifier) @name body: (_)) @def.struct
(enum_specifier name: (type_identifier) @name body: (_)) @def.enum
(enumerator name: (identifier) @name) @def.member
(namespace_definition name: (_) @name) @def.module
(function_definition type: (_)? @type declarator: (_) @declarator) @def.function
(declaration type: (_)? @type declarator: (function_declarator) @declarator) @def.prototype
(declaration type: (_)? @type declarator: [(pointer_declarator) (reference_declarator)] @declarator) @def.variable
(declaration type: (_)? @type declarator: [(identifier) (array_declarator)] @declarator) @def.variable
(declaration type: (_)? @type declarator: (init_declarator declarator: (_) @declarator value: (_) @value)) @def.variable
(field_declaration type: (_) @type declarator: (_) @declarator) @def.field
(parameter_declaration type: (_) @type declarator: (_) @declarator) @def.parameter
(optional_parameter_declaration type: (_) @type declarator: (_) @declarator) @def.parameter
(type_parameter_declaration (type_identifier) @name) @def.typeparam
(for_range_loop type: (_) @type declarator: (_) @declarator right: (_) @element) @def.variable
(type_definition type: (_) @type declarator: (_) @declarator) @def.type
(alias_declaration name: (type_identifier) @name type: (_) @type) @def.type
(concept_definition name: (identifier) @name) @def.type
(preproc_def name: (identifier) @name value: (_)? @value) @def.macro
(preproc_function_def name: (identifier) @name) @def.macro
(preproc_params (identifier) @name @def.parameter)
[(compound_statement) (for_statement) (for_range_loop) (lambda_expression) (template_declaration) (if_statement) (while_statement)] @scope
[(comment) (string_content) (char_literal) (raw_string_content)] @quiet
[(preproc_include) (using_declaration)] @import
