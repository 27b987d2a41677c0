(class name: (constant) @name superclass: (_)? @bases) @def.class
(class name: (scope_resolution name: (constant) @name) superclass: (_)? @bases) @def.class
(module name: (constant) @name) @def.module
(module name: (scope_resolution name: (constant) @name)) @def.module
(method name: (_) @name) @def.method
(singleton_method name: (_) @name) @def.method
(alias name: (_) @name) @def.method
(assignment left: (constant) @name right: (_) @value) @def.constant
(assignment left: (identifier) @name right: (_) @value) @def.variable
(assignment left: (left_assignment_list (identifier) @name)) @def.variable
(assignment left: [(instance_variable) (class_variable) (global_variable)] @name right: (_) @value) @def.field
(operator_assignment left: [(instance_variable) (class_variable) (global_variable)] @name right: (_) @value) @def.field
(operator_assignment left: (identifier) @name right: (_) @value) @def.variable
(call method: (identifier) @_m arguments: (argument_list (simple_symbol) @name)
  (#any-of? @_m "attr_accessor" "attr_reader" "attr_writer" "define_method" "delegate" "scope")) @def.property
(method_parameters (identifier) @name @def.parameter)
(block_parameters (identifier) @name @def.parameter)
(lambda_parameters (identifier) @name @def.parameter)
(optional_parameter name: (identifier) @name) @def.parameter
(keyword_parameter name: (identifier) @name) @def.parameter
(splat_parameter name: (identifier) @name) @def.parameter
(hash_splat_parameter name: (identifier) @name) @def.parameter
(block_parameter name: (identifier) @name) @def.parameter
(exception_variable (identifier) @name) @def.variable
[(block) (do_block) (lambda)] @scope
[(comment) (string_content) (heredoc_content)] @quiet
((call !receiver method: (identifier) @_m arguments: (argument_list . (string))) @import (#any-of? @_m "require_relative" "require" "load"))
