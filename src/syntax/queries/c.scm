(type_definition type: (struct_specifier !name body: (_)) declarator: (type_identifier) @name) @def.struct
(type_definition type: (union_specifier !name body: (_)) declarator: (type_identifier) @name) @def.struct
(type_definition type: (enum_specifier !name body: (_)) declarator: (type_identifier) @name) @def.enum
(function_definition type: (_)? @type declarator: (_) @declarator) @def.function
(declaration type: (_)? @type declarator: (function_declarator) @declarator) @def.prototype
(declaration type: (_)? @type declarator: (pointer_declarator) @declarator) @def.variable
(declaration type: (_)? @type declarator: [(identifier) (array_declarator)] @declarator) @def.variable
(declaration type: (_)? @type declarator: (init_declarator declarator: (_) @declarator value: (_) @value)) @def.variable
(parameter_declaration type: (_) @type declarator: (_) @declarator) @def.parameter
(field_declaration type: (_) @type declarator: (_) @declarator) @def.field
(struct_specifier name: (type_identifier) @name body: (_)) @def.struct
(union_specifier name: (type_identifier) @name body: (_)) @def.struct
(enum_specifier name: (type_identifier) @name body: (_)) @def.enum
(enumerator name: (identifier) @name) @def.constant
(type_definition type: (_) @type declarator: (_) @declarator) @def.type
(preproc_def name: (identifier) @name value: (_)? @value) @def.macro
(preproc_function_def name: (identifier) @name) @def.macro
(preproc_params (identifier) @name @def.parameter)
(labeled_statement label: (statement_identifier) @name) @def.label
[(compound_statement) (for_statement)] @scope
[(comment) (string_content) (char_literal)] @quiet
(preproc_include) @import
