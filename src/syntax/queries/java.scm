(class_declaration name: (identifier) @name superclass: (_)? @bases interfaces: (_)? @bases) @def.class
(record_declaration name: (identifier) @name interfaces: (_)? @bases) @def.class
(interface_declaration name: (identifier) @name (extends_interfaces)? @bases) @def.interface
(annotation_type_declaration name: (identifier) @name) @def.interface
(enum_declaration name: (identifier) @name interfaces: (_)? @bases) @def.enum
(enum_constant name: (identifier) @name) @def.member
(method_declaration type: (_) @type name: (identifier) @name) @def.method
(constructor_declaration name: (identifier) @name) @def.constructor
(field_declaration type: (_) @type declarator: (variable_declarator name: (identifier) @name)) @def.field
(constant_declaration type: (_) @type declarator: (variable_declarator name: (identifier) @name)) @def.field
(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (identifier) @name value: (_)? @value)) @def.variable
(formal_parameter type: (_) @type name: (identifier) @name) @def.parameter
(spread_parameter (variable_declarator name: (identifier) @name)) @def.parameter
(catch_formal_parameter (catch_type) @type name: (identifier) @name) @def.parameter
(enhanced_for_statement type: (_) @type name: (identifier) @name value: (_) @element) @def.variable
(resource type: (_) @type name: (_) @name) @def.variable
(instanceof_expression right: (_) @type name: (identifier) @name) @def.variable
(inferred_parameters (identifier) @name @def.parameter)
(lambda_expression parameters: (identifier) @name @def.parameter)
(type_parameter (type_identifier) @name) @def.typeparam
[(block) (for_statement) (enhanced_for_statement) (lambda_expression) (catch_clause) (try_with_resources_statement)] @scope
[(line_comment) (block_comment) (string_fragment) (character_literal)] @quiet
(import_declaration) @import
