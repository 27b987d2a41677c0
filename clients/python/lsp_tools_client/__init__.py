"""A client of lsp-tools: asks real language servers about code, and says how far each answer can be trusted."""

from .answer import Answer, CallTimeout, DaemonLost, IncompleteAnswer, LspToolsError, ToolFailed
from .answer import ProgramEnded, ProgramMissing, ProgramTooOld, ProgramUnusable
from .client import AsyncClient, Client
from .tools import VERSION

__all__ = ["VERSION", "Answer", "AsyncClient", "CallTimeout", "Client", "DaemonLost", "IncompleteAnswer", "LspToolsError"]
__all__ += ["ProgramEnded", "ProgramMissing", "ProgramTooOld", "ProgramUnusable", "ToolFailed"]
