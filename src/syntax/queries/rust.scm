(struct_item name: (type_identifier) @name) @def.struct
(union_item name: (type_identifier) @name) @def.struct
(enum_item name: (type_identifier) @name) @def.enum
(enum_variant name: (identifier) @name) @def.member
(trait_item name: (type_identifier) @name bounds: (_)? @bases) @def.interface
(impl_item trait: (_)? @bases type: (_) @name) @def.impl
(mod_item name: (identifier) @name body: (_)) @def.module
(mod_item name: (identifier) @name !body) @def.modfile
(function_item name: (identifier) @name return_type: (_)? @type) @def.function
(function_signature_item name: (identifier) @name return_type: (_)? @type) @def.function
(type_item name: (type_identifier) @name type: (_) @type) @def.type
(associated_type name: (type_identifier) @name bounds: (_)? @type) @def.type
(const_item name: (identifier) @name type: (_) @type) @def.constant
(static_item name: (identifier) @name type: (_) @type) @def.constant
(macro_definition name: (identifier) @name) @def.macro
(field_declaration name: (field_identifier) @name type: (_) @type) @def.field
(parameter pattern: (_) @bind type: (_) @type) @def.parameter
(self_parameter (self) @name) @def.parameter
(closure_parameters (parameter pattern: (_) @bind type: (_) @type)) @def.parameter
(closure_parameters [(identifier) (tuple_pattern) (tuple_struct_pattern) (struct_pattern) (reference_pattern) (ref_pattern) (mut_pattern)] @bind @def.parameter)
(let_declaration pattern: (_) @bind type: (_)? @type value: (_)? @value) @def.variable
(let_condition pattern: (_) @bind value: (_) @element) @def.variable
(for_expression pattern: (_) @bind @def.variable value: (_) @element)
(match_expression value: (_) @element body: (match_block (match_arm pattern: (match_pattern) @bind @def.variable)))
(type_parameter name: (type_identifier) @name bounds: (_)? @type) @def.typeparam
(const_parameter name: (identifier) @name type: (_) @type) @def.typeparam
(lifetime_parameter name: (lifetime (identifier) @name)) @def.typeparam
[(block) (closure_expression) (match_arm) (for_expression) (if_expression) (while_expression)] @scope
[(struct_item) (enum_item) (type_item) (impl_item) (trait_item)] @scope
[(line_comment) (block_comment) (string_content) (raw_string_literal)] @quiet
[(use_declaration) (extern_crate_declaration)] @import
