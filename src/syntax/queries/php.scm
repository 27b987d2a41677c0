(class_declaration name: (name) @name (base_clause)? @bases (class_interface_clause)? @bases) @def.class
(interface_declaration name: (name) @name (base_clause)? @bases) @def.interface
(trait_declaration name: (name) @name) @def.class
(enum_declaration name: (name) @name (class_interface_clause)? @bases) @def.enum
(enum_case name: (name) @name) @def.member
(function_definition name: (name) @name return_type: (_)? @type) @def.function
(method_declaration name: (name) @name return_type: (_)? @type) @def.method
(property_declaration type: (_)? @type (property_element name: (variable_name (name) @name))) @def.field
(const_declaration (const_element (name) @name)) @def.constant
(property_promotion_parameter type: (_)? @type name: (variable_name (name) @name)) @def.field
(simple_parameter type: (_)? @type name: (variable_name) @name) @def.parameter
(property_promotion_parameter type: (_)? @type name: (variable_name) @name) @def.parameter
(variadic_parameter type: (_)? @type name: (variable_name) @name) @def.parameter
(assignment_expression left: (variable_name) @name right: (_) @value) @def.variable
(foreach_statement (_) @element (variable_name) @name) @def.variable
(foreach_statement (_) @element (pair (variable_name) @name)) @def.variable
(catch_clause type: (_) @type name: (variable_name) @name) @def.variable
(anonymous_function_use_clause (variable_name) @name) @def.variable
(function_static_declaration (static_variable_declaration name: (variable_name) @name)) @def.variable
(global_declaration (variable_name) @name) @def.variable
[(anonymous_function) (arrow_function)] @scope
[(comment) (string_content) (nowdoc_string) (text)] @quiet
[(namespace_use_clause) (require_once_expression) (require_expression) (include_expression) (include_once_expression)] @import
