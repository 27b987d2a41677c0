//! Skills that a host loads without being asked by its model.

use serde_json::json;

use super::Runtime;
use super::call::CallRequest;
use crate::policy::approval::LeaveGiven;
use crate::tools::result::ToolResult;
use crate::tools::tool::Caller;

impl Runtime {
    /// Loads a skill as the tool `skill` does, for a host that found by itself that it fits. Nobody is asked; a rule that
    /// denies the tool still denies it.
    pub async fn load_skill(&self, caller: &Caller, name: &str) -> ToolResult {
        let arguments = json!({"action": "load", "name": name});
        let request = CallRequest { approver: &LeaveGiven, ..CallRequest::new("skill", arguments, caller) };
        self.call(request).await
    }
}
