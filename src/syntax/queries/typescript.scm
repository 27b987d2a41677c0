(class_declaration name: (type_identifier) @name (class_heritage)? @bases) @def.class
(abstract_class_declaration name: (type_identifier) @name (class_heritage)? @bases) @def.class
(class name: (type_identifier)? @name (class_heritage)? @bases) @def.class
(interface_declaration name: (type_identifier) @name (extends_type_clause)? @bases) @def.interface
(type_alias_declaration name: (type_identifier) @name value: (_) @type) @def.type
(enum_declaration name: (identifier) @name) @def.enum
(enum_body name: (property_identifier) @name @def.member)
(enum_assignment name: (property_identifier) @name) @def.member
(internal_module name: (identifier) @name) @def.module
(module name: (identifier) @name) @def.module
(function_declaration name: (identifier) @name return_type: (_)? @type) @def.function
(generator_function_declaration name: (identifier) @name return_type: (_)? @type) @def.function
(function_signature name: (identifier) @name return_type: (_)? @type) @def.signature
(function_expression name: (identifier) @name return_type: (_)? @type) @def.function
(method_definition name: [(property_identifier) (private_property_identifier)] @name return_type: (_)? @type) @def.method
(method_signature name: (property_identifier) @name return_type: (_)? @type) @def.method
(abstract_method_signature name: (property_identifier) @name return_type: (_)? @type) @def.method
(public_field_definition name: [(property_identifier) (private_property_identifier)] @name type: (_)? @type value: (_)? @value) @def.field
(property_signature name: (property_identifier) @name type: (_)? @type) @def.field
(variable_declarator name: (identifier) @name value: (arrow_function return_type: (_)? @type)) @def.function
(variable_declarator name: (identifier) @name value: [(function_expression) (generator_function)]) @def.function
(variable_declarator name: (identifier) @name type: (_)? @type value: (_)? @value) @def.variable
(variable_declarator name: [(object_pattern) (array_pattern)] @bind type: (_)? @type value: (_)? @element) @def.variable
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @def.method
(pair key: (property_identifier) @name value: (_) @value) @def.property
(shorthand_property_identifier) @name @def.shorthand
(required_parameter (accessibility_modifier) pattern: (identifier) @name type: (_)? @type) @def.field
(required_parameter pattern: (_) @bind type: (_)? @type) @def.parameter
(optional_parameter pattern: (_) @bind type: (_)? @type) @def.parameter
(arrow_function parameter: (identifier) @name @def.parameter)
(export_statement "default" @name value: (_) @value) @def.variable
(catch_clause parameter: (_) @bind @def.variable)
(for_in_statement left: (_) @bind @def.variable right: (_) @element)
(type_parameter name: (type_identifier) @name constraint: (_)? @type) @def.typeparam
(infer_type (type_identifier) @name) @def.typeparam
(mapped_type_clause name: (type_identifier) @name) @def.typeparam
[(arrow_function) (function_expression) (generator_function) (function_signature) (method_signature) (abstract_method_signature)
 (function_type) (constructor_type) (call_signature) (construct_signature) (index_signature) (conditional_type)] @scope
[(statement_block) (for_statement) (for_in_statement) (catch_clause) (switch_body) (object_type)] @scope
[(comment) (string_fragment) (regex_pattern)] @quiet
[(import_statement) (export_statement source: (_))] @import
(variable_declarator value: (call_expression function: (identifier) @_f) (#eq? @_f "require")) @import
