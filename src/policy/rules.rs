//! All rules together, for each caller: the tools offered, and the decision on a call.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::caller::{CallerAccess, Consent};
use super::limits::path_limits;
use super::name::{self, NamePattern};
use super::request::{Effect, PolicyDecision, PolicyRequest, PolicyVerdict};
use super::rule::{self, Rule};
use crate::analysis::path_limits::PathLimits;
use crate::config::{AccessLayer, AgentSettings, ConfigError, ConfigProblem, LayerOrigin, Profile};
use crate::text::suggestion;

/// The rules in force, and the agents with narrower rules.
#[derive(Debug, Clone, Default)]
pub(crate) struct Policy {
    profile: Option<Profile>,
    scope: PolicyRestrictions,
    allow: Vec<Rule>,
    agents: BTreeMap<String, AgentRules>,
    /// Tools that need to be switched on by the user, and the reason shown for calls while they are
    /// off.
    switched_off: Vec<(&'static str, &'static str)>,
    /// Tools that the profile `core` does not list. They can still be called; a model reads the
    /// list before each answer.
    beyond_core: BTreeSet<String>,
    /// The tools that the profile `lsp` lists. Other tools are never in it, regardless of their
    /// names.
    in_lsp: BTreeSet<String>,
}

/// Lists that narrow the tools of a caller.
#[derive(Debug, Clone, Default)]
struct PolicyRestrictions {
    /// A tool must be in each of these lists.
    available: Vec<ToolNameList>,
    excluded: Vec<ToolNameList>,
    ask: Vec<Arc<Rule>>,
    deny: Vec<Arc<Rule>>,
}

/// A list of tools' names, and its origin.
#[derive(Debug, Clone)]
struct ToolNameList {
    names: Vec<NamePattern>,
    whose: String,
}

impl ToolNameList {
    fn has(&self, tool: &str) -> bool {
        self.names.iter().any(|name| name.matches(tool))
    }
}

/// The rules and settings of an agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct AgentRules {
    /// The purpose of the agent.
    pub(crate) description: Option<String>,
    /// The program that runs a task as this agent, and its arguments.
    pub(crate) runner: Option<Vec<String>>,
    scope: PolicyRestrictions,
}

impl Policy {
    /// The rules of all layers, given from the weakest to the strongest.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`] with every rule and name that cannot be parsed.
    pub(crate) fn new(layers: &[AccessLayer]) -> Result<Self, ConfigError> {
        let (mut policy, mut problems) = (Self::default(), Vec::new());
        for layer in layers {
            let mut reader = PolicyLayerReader { layer, problems: &mut problems };
            let permissions = &layer.access.permissions;
            policy.profile = permissions.profile.or(policy.profile);
            policy.allow.extend(reader.read_rules(
                &["permissions", "allow"],
                &permissions.allow,
                PolicyVerdict::Allow,
                layer.origin_text(),
            ));
            let lists = RestrictionLists {
                available: (permissions.available.as_deref(), "available"),
                excluded: &permissions.excluded,
                ask: &permissions.ask,
                deny: &permissions.deny,
            };
            reader.add_restrictions(&mut policy.scope, &["permissions"], lists);
            for (name, agent) in &layer.access.agents {
                reader.read_agent(policy.agents.entry(name.clone()).or_default(), name, agent);
            }
        }
        if problems.is_empty() { Ok(policy) } else { Err(ConfigError::Invalid(problems)) }
    }

    /// The policy without `tools`, which the user has not switched on; callers see `reason`.
    pub(crate) fn without_tools(mut self, tools: &[&'static str], reason: &'static str) -> Self {
        self.switched_off.extend(tools.iter().map(|tool| (*tool, reason)));
        self
    }

    /// Records which of the profiles `core` and `lsp` list `tool`. A tool that is not recorded is
    /// in `core` alone.
    pub(crate) fn place_in_profiles(&mut self, tool: &str, core: bool, lsp: bool) {
        for (names, contains) in [(&mut self.beyond_core, !core), (&mut self.in_lsp, lsp)] {
            if contains {
                names.insert(tool.to_owned());
            } else {
                names.remove(tool);
            }
        }
    }

    /// Returns true if the list of `profile` has a tool with that name and effect.
    fn profile_lists(&self, profile: Profile, tool: &str, effect: Effect) -> bool {
        match profile {
            Profile::Core => !self.beyond_core.contains(tool),
            Profile::Lsp => self.in_lsp.contains(tool),
            Profile::All | Profile::Edit | Profile::ReadOnly => profile_offers(profile, effect),
        }
    }

    /// The agents by name.
    pub(crate) fn agents(&self) -> &BTreeMap<String, AgentRules> {
        &self.agents
    }

    /// The rules for a caller with `access`, on behalf of `agent`: its name, or the chain of agents
    /// that delegated the work, separated by `/`. Each agent narrows the rules.
    pub(crate) fn for_caller<'a>(
        &'a self,
        access: &'a CallerAccess,
        agent: Option<&'a str>,
    ) -> CallerPolicy<'a> {
        let names = agent.into_iter().flat_map(|chain| chain.split('/'));
        let agents = names.map(|name| self.agents.get(name).ok_or_else(|| self.unknown_agent(name)));
        CallerPolicy { policy: self, access, agents: agents.collect() }
    }

    fn unknown_agent(&self, agent: &str) -> String {
        let names: Vec<&str> = self.agents.keys().map(String::as_str).collect();
        let near = suggestion(agent, &names);
        format!(
            "there is no agent `{}` in lsp-tools.toml, where it would be [agents.NAME]{near}",
            agent.escape_debug()
        )
    }
}

/// The rules for one caller.
#[derive(Debug, Clone)]
pub(crate) struct CallerPolicy<'a> {
    policy: &'a Policy,
    access: &'a CallerAccess,
    /// The agents on whose behalf the caller calls. An unknown agent may do nothing.
    agents: Result<Vec<&'a AgentRules>, String>,
}

impl<'a> CallerPolicy<'a> {
    /// Returns true if the caller's list of tools has the tool: it is offered, and in the list of
    /// the profile. Without a profile the list is that of [`Profile::Core`], or all available tools
    /// if some were named.
    pub(crate) fn lists(&self, tool: &str, effect: Effect) -> bool {
        let usual = if self.names_available() { Profile::All } else { Profile::Core };
        self.offers(tool, effect) && self.policy.profile_lists(self.profile().unwrap_or(usual), tool, effect)
    }

    /// Returns true if the caller, the settings, or the agent have a list of available tools.
    fn names_available(&self) -> bool {
        self.access.available.is_some()
            || self.scopes().is_ok_and(|scopes| scopes.iter().any(|scope| !scope.available.is_empty()))
    }

    fn profile(&self) -> Option<Profile> {
        self.access.profile.or(self.policy.profile)
    }

    /// Returns true if a tool is offered at all.
    pub(crate) fn offers(&self, tool: &str, effect: Effect) -> bool {
        self.not_offered(tool, effect).is_none()
    }

    /// The reason that a tool is not offered, in one sentence; `None` if it is offered.
    pub(crate) fn not_offered(&self, tool: &str, effect: Effect) -> Option<PolicyDecision> {
        let deny = |reason: String| Some(PolicyDecision::without_rule(PolicyVerdict::Deny, reason));
        if let Some((_, reason)) = self.policy.switched_off.iter().find(|(off, _)| *off == tool) {
            return deny((*reason).to_owned());
        }
        let scopes = match self.scopes() {
            Ok(scopes) => scopes,
            Err(reason) => return deny(reason),
        };
        if let Some(profile) = self.profile().filter(|profile| !profile_offers(*profile, effect)) {
            return deny(format!(
                "{tool} is not in the profile `{}`; `--profile`, or `profile` under [permissions] in lsp-tools.toml, chooses another",
                profile_name(profile)
            ));
        }
        if self
            .access
            .available
            .as_ref()
            .is_some_and(|names| !names.iter().any(|list| name::matches(list, tool)))
        {
            return deny(format!(
                "{tool} is not in the list of available tools with which this caller was started; it can be added there"
            ));
        }
        if let Some(excluded) = self.excluded(tool) {
            return Some(excluded);
        }
        for scope in scopes {
            if let Some(list) = scope.available.iter().find(|list| !list.has(tool)) {
                return deny(format!(
                    "{tool} is not in the list of available tools of {}; it can be added there",
                    list.whose
                ));
            }
            if let Some(rule) = scope.deny.iter().find(|rule| rule.covers_all_calls(tool, effect)) {
                return Some(denied_by(rule));
            }
        }
        None
    }

    /// The reason that `tool` is excluded by its name; `None` if it is not.
    pub(crate) fn excluded(&self, tool: &str) -> Option<PolicyDecision> {
        let deny = |reason: String| Some(PolicyDecision::without_rule(PolicyVerdict::Deny, reason));
        if self.access.excluded.iter().any(|list| name::matches(list, tool)) {
            return deny(format!(
                "{tool} is in the list of excluded tools with which this caller was started; it can be taken out there"
            ));
        }
        let scopes = self.scopes().unwrap_or_default();
        let list = scopes.iter().flat_map(|scope| &scope.excluded).find(|list| list.has(tool))?;
        deny(format!("{tool} is in the list `excluded` of {}; it can be taken out there", list.whose))
    }

    /// Decides on a call.
    pub(crate) fn decide(&self, request: &PolicyRequest<'_>) -> PolicyDecision {
        if let Some(denied) = self.not_offered(request.tool, request.effect) {
            return denied;
        }
        let decision = self.decide_by_rules(request);
        match (decision.verdict, self.access.consent) {
            (PolicyVerdict::Ask, Consent::Typed) => PolicyDecision {
                verdict: PolicyVerdict::Allow,
                why: format!("{}, and the user who would approve it typed it", decision.why),
                rule: decision.rule,
            },
            _ => decision,
        }
    }

    /// The rules for paths that a call discovers only while it runs, such as search results and
    /// edits that a language server proposes. A path that needs approval but was not part of the
    /// request is forbidden.
    pub(crate) fn limits(&self, request: &PolicyRequest<'_>) -> PathLimits {
        let scopes = self.scopes().unwrap_or_default();
        let typed = self.access.consent == Consent::Typed;
        let asks = scopes.iter().flat_map(|scope| &scope.ask);
        let asks = asks.filter(|rule| !typed && !rule.applies_to(request));
        let denies = scopes.iter().flat_map(|scope| &scope.deny);
        let rules = denies.chain(asks).filter(|rule| rule.speaks_of_paths(request.tool, request.effect));
        let open = (request.effect == Effect::Edit && !typed).then(|| request.subjects.paths.clone());
        path_limits(request.tool, request.effect, rules.cloned().collect(), open)
    }

    fn decide_by_rules(&self, request: &PolicyRequest<'_>) -> PolicyDecision {
        let scopes = match self.scopes() {
            Ok(scopes) => scopes,
            Err(why) => return PolicyDecision::without_rule(PolicyVerdict::Deny, why),
        };
        let first = |list: fn(&'a PolicyRestrictions) -> &'a [Arc<Rule>]| {
            scopes.iter().flat_map(|scope| list(scope)).find(|rule| rule.applies_to(request))
        };
        if let Some(rule) = first(|scope| &scope.deny) {
            return denied_by(rule);
        }
        if let Some(rule) = first(|scope| &scope.ask) {
            let why = format!("the rule `{}` under `ask` in {} wants approval for it", rule.text, rule.whose);
            return PolicyDecision { verdict: PolicyVerdict::Ask, rule: Some(rule.text.clone()), why };
        }
        match rule::allowed_by(&self.policy.allow, request) {
            Ok(rules) => {
                let named = |at: usize| self.policy.allow.get(at).map(|rule| rule.text.clone());
                let rules: Vec<String> = rules.into_iter().filter_map(named).collect();
                let rules = rules.join("`, `");
                PolicyDecision {
                    verdict: PolicyVerdict::Allow,
                    why: format!("`{rules}` allows it"),
                    rule: Some(rules),
                }
            }
            Err(why) => by_default(request, why),
        }
    }

    fn scopes(&self) -> Result<Vec<&'a PolicyRestrictions>, String> {
        let agents = self.agents.as_ref().map_err(Clone::clone)?;
        Ok(std::iter::once(&self.policy.scope).chain(agents.iter().map(|agent| &agent.scope)).collect())
    }
}

fn denied_by(rule: &Rule) -> PolicyDecision {
    let why = format!(
        "the rule `{}` in {} forbids it; it can be changed under `deny` in lsp-tools.toml",
        rule.text, rule.whose
    );
    PolicyDecision { verdict: PolicyVerdict::Deny, rule: Some(rule.text.clone()), why }
}

/// The decision on a call that no rule is about. `reason` is the reason that no pattern allowed it.
fn by_default(request: &PolicyRequest<'_>, reason: Option<String>) -> PolicyDecision {
    let tool = request.tool;
    let reason = reason.map(|reason| format!(", and {reason}")).unwrap_or_default();
    match request.effect {
        Effect::Read => PolicyDecision::without_rule(PolicyVerdict::Allow, "reading is allowed"),
        Effect::Edit => match &request.subjects.governs {
            Some(reason) => PolicyDecision::without_rule(
                PolicyVerdict::Ask,
                format!("{reason}, for which the default rule is `ask`"),
            ),
            None => PolicyDecision::without_rule(PolicyVerdict::Allow, "changing the workspace is allowed"),
        },
        Effect::Execute => {
            let what = format!("{tool} runs a program, for which the default rule is `ask`{reason}");
            PolicyDecision::without_rule(PolicyVerdict::Ask, what)
        }
        Effect::Network => {
            let what =
                format!("{tool} contacts another machine, for which the default rule is `ask`{reason}");
            PolicyDecision::without_rule(PolicyVerdict::Ask, what)
        }
    }
}

/// Returns true if a tool with that effect may be called under `profile`. [`Profile::Core`] and
/// [`Profile::Lsp`] limit only the list.
fn profile_offers(profile: Profile, effect: Effect) -> bool {
    match profile {
        Profile::All | Profile::Core | Profile::Lsp => true,
        Profile::Edit => matches!(effect, Effect::Read | Effect::Edit),
        Profile::ReadOnly => effect == Effect::Read,
    }
}

fn profile_name(profile: Profile) -> &'static str {
    match profile {
        Profile::All => "all",
        Profile::Core => "core",
        Profile::Edit => "edit",
        Profile::ReadOnly => "read-only",
        Profile::Lsp => "lsp",
    }
}

/// The narrowing lists of one settings table.
struct RestrictionLists<'a> {
    available: (Option<&'a [String]>, &'a str),
    excluded: &'a [String],
    ask: &'a [String],
    deny: &'a [String],
}

/// Reads the rules of one layer.
struct PolicyLayerReader<'a> {
    layer: &'a AccessLayer,
    problems: &'a mut Vec<ConfigProblem>,
}

impl PolicyLayerReader<'_> {
    fn read_agent(&mut self, into: &mut AgentRules, name: &str, agent: &AgentSettings) {
        let lists = RestrictionLists {
            available: (agent.tools.as_deref(), "tools"),
            excluded: &agent.excluded,
            ask: &agent.ask,
            deny: &agent.deny,
        };
        self.add_restrictions(&mut into.scope, &["agents", name], lists);
        // The description of an untrusted project does not replace the user's own.
        let (ours, theirs) = (into.description.take(), agent.description.clone());
        into.description = match self.layer.origin() {
            LayerOrigin::Project { trusted: false } => ours.or(theirs),
            _ => theirs.or(ours),
        };
        into.runner = agent.runner.clone().or(into.runner.take());
    }

    fn add_restrictions(
        &mut self,
        scope: &mut PolicyRestrictions,
        table: &[&str],
        lists: RestrictionLists<'_>,
    ) {
        let at = |key| table.iter().copied().chain([key]).collect::<Vec<_>>();
        let (available, key) = lists.available;
        let whose = match table {
            ["agents", name] => format!("[agents.{name}] in {}", self.layer.origin_text()),
            _ => self.layer.origin_text().to_owned(),
        };
        scope.available.extend(available.map(|names| self.read_names(&at(key), names, &whose)));
        if !lists.excluded.is_empty() {
            scope.excluded.push(self.read_names(&at("excluded"), lists.excluded, &whose));
        }
        scope.ask.extend(
            self.read_rules(&at("ask"), lists.ask, PolicyVerdict::Ask, &whose).into_iter().map(Arc::new),
        );
        scope.deny.extend(
            self.read_rules(&at("deny"), lists.deny, PolicyVerdict::Deny, &whose).into_iter().map(Arc::new),
        );
    }

    fn read_names(&mut self, path: &[&str], names: &[String], whose: &str) -> ToolNameList {
        let mut read = Vec::new();
        for name in names {
            match NamePattern::new(name) {
                Some(name) => read.push(name),
                None => {
                    let message = format!("`{name}` is neither a tool name nor a pattern of one with `*`");
                    self.add_problem(path, name, &message);
                }
            }
        }
        ToolNameList { names: read, whose: whose.to_owned() }
    }

    fn read_rules(
        &mut self,
        path: &[&str],
        texts: &[String],
        verdict: PolicyVerdict,
        whose: &str,
    ) -> Vec<Rule> {
        let mut rules = Vec::new();
        for text in texts {
            match Rule::read(text, verdict, whose) {
                Ok(rule) => rules.push(rule),
                Err(message) => self.add_problem(path, text, &message),
            }
        }
        rules
    }

    fn add_problem(&mut self, path: &[&str], item: &str, message: &str) {
        let path: Vec<&str> = path.iter().copied().chain([item]).collect();
        self.problems.push(self.layer.problem(&path, message));
    }
}

#[cfg(test)]
mod tests;
