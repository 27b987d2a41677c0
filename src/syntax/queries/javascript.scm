(class_declaration name: (identifier) @name (class_heritage)? @bases) @def.class
(class name: (identifier)? @name (class_heritage)? @bases) @def.class
(variable_declarator name: (identifier) @name value: (class)) @def.class
(function_declaration name: (identifier) @name) @def.function
(generator_function_declaration name: (identifier) @name) @def.function
(function_expression name: (identifier) @name) @def.function
(method_definition name: [(property_identifier) (private_property_identifier)] @name) @def.method
(field_definition property: [(property_identifier) (private_property_identifier)] @name value: (_)? @value) @def.field
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @def.function
(variable_declarator name: (identifier) @name value: (_)? @value) @def.variable
(variable_declarator name: [(object_pattern) (array_pattern)] @bind value: (_)? @element) @def.variable
(assignment_expression left: (member_expression object: (this) property: (_) @name) right: (_) @value) @def.field
(assignment_expression left: (member_expression object: (member_expression object: (identifier) @container property: (property_identifier) @_p)
  property: (property_identifier) @name) right: (_) @value (#eq? @_p "prototype")) @def.field
(assignment_expression left: (member_expression object: (identifier) @container property: (property_identifier) @name) right: (_) @value) @def.field
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @def.method
(pair key: (property_identifier) @name value: (_) @value) @def.property
(shorthand_property_identifier) @name @def.shorthand
(export_statement "default" @name value: (_) @value) @def.variable
(formal_parameters (_) @bind @def.parameter)
(arrow_function parameter: (identifier) @name @def.parameter)
(catch_clause parameter: (_) @bind @def.variable)
(for_in_statement left: (_) @bind @def.variable right: (_) @element)
[(arrow_function) (function_expression) (generator_function)] @scope
[(statement_block) (for_statement) (for_in_statement) (catch_clause) (switch_body)] @scope
[(comment) (string_fragment) (regex_pattern)] @quiet
[(import_statement) (export_statement source: (_))] @import
(variable_declarator value: (call_expression function: (identifier) @_f) (#eq? @_f "require")) @import
