(class_definition name: (identifier) @name superclasses: (argument_list)? @bases) @def.class
(function_definition name: (identifier) @name return_type: (type)? @type) @def.function
(type_alias_statement left: (type [(identifier) @name (generic_type . (identifier) @name)]) right: (type) @type) @def.type
(parameters [(identifier) (list_splat_pattern) (dictionary_splat_pattern)] @bind @def.parameter)
(typed_parameter . [(identifier) (list_splat_pattern) (dictionary_splat_pattern)] @bind type: (type) @type) @def.parameter
(default_parameter name: (identifier) @name value: (_) @value) @def.parameter
(typed_default_parameter name: (identifier) @name type: (type) @type) @def.parameter
(lambda_parameters [(identifier) (list_splat_pattern) (dictionary_splat_pattern)] @bind @def.parameter)
; The grammar has one node for the parameters of what is generic and for the arguments of a type (`list[Item]`).
(function_definition type_parameters: (type_parameter (type
  [(identifier) @name (constrained_type . (type (identifier) @name)) (splat_type (identifier) @name)])) @def.typeparam)
(class_definition type_parameters: (type_parameter (type
  [(identifier) @name (constrained_type . (type (identifier) @name)) (splat_type (identifier) @name)])) @def.typeparam)
(assignment left: (identifier) @name type: (type)? @type right: (_)? @value) @def.variable
(assignment left: [(pattern_list) (tuple_pattern) (list_pattern)] @bind right: (_) @element) @def.variable
(assignment left: (attribute object: (identifier) @_self attribute: (identifier) @name)
  type: (type)? @type right: (_)? @value (#any-of? @_self "self" "cls")) @def.field
(named_expression name: (identifier) @name value: (_) @value) @def.variable
(for_statement left: (_) @bind @def.variable right: (_) @element)
(for_in_clause left: (_) @bind @def.variable right: (_) @element)
(as_pattern (_) @value alias: (as_pattern_target) @bind) @def.variable
(case_pattern (dotted_name . (identifier) @name .)) @def.variable
[(lambda) (list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @scope
[(comment) (string_content)] @quiet
[(import_statement) (import_from_statement)] @import
