"""Answers with their verdicts, and errors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, cast

T = TypeVar("T", covariant=True)


@dataclass(frozen=True)
class Answer(Generic[T]):
    """The answer of a tool: `value` if it is complete, else `raw` with its `verdict`."""

    tool: str
    raw: T
    """The answer, whatever its verdict."""

    @property
    def verdict(self) -> Literal["complete", "partial", "no_data", "hints"] | None:
        """The reliability of the answer; `None` if no server was asked."""
        return cast(Mapping[str, Any], self.raw).get("verdict")

    @property
    def complete(self) -> bool:
        """True if nothing is missing from the answer."""
        return self.verdict in ("complete", None)

    @property
    def reasons(self) -> list[str]:
        """The reasons for the verdict, and what to do, in sentences."""
        whole = cast(Mapping[str, Any], self.raw)
        parts = [part for key in ("server_status", "diagnostics") if isinstance(part := whole.get(key), dict)]
        single = [part.get(key) for part in parts for key in ("detail", "reason", "hint")]
        single += [f"run: {part['installer']}" for part in parts if part.get("installer")]
        return [reason for reason in single if reason] + [note for part in (whole, *parts) for note in part.get("notes", [])]

    @property
    def value(self) -> T:
        """The answer if it is complete; else raises `IncompleteAnswer`. An edit is done in either case."""
        if not self.complete:
            raise IncompleteAnswer(self)
        return self.raw


class LspToolsError(Exception):
    """Any error of this package."""


class ProgramMissing(LspToolsError):
    """The program was not found, or cannot be run."""


class ProgramTooOld(LspToolsError):
    """The program is older than this package."""


class ProgramUnusable(LspToolsError):
    """The program is not lsp-tools, or ended before the first call."""


class ProgramEnded(LspToolsError):
    """The program ended during a call, which may have taken effect. The next call starts it again."""


class DaemonLost(LspToolsError):
    """The daemon ended during a call, which may have taken effect. Calls that only read are repeated once."""


class CallTimeout(LspToolsError, TimeoutError):
    """No answer came in time. The call was cancelled."""


class ToolFailed(LspToolsError):
    """The tool refused the call or failed: `code` (`not_found`, `denied`, …), `hint`, and the whole `answer`."""

    def __init__(self, tool: str, answer: Mapping[str, Any]) -> None:
        self.tool, self.answer, self.hint = tool, answer, cast("str | None", answer.get("hint"))
        self.code: str = answer.get("code", "internal")
        super().__init__(f"{tool}: {answer.get('error', 'failed')}" + (f" ({self.hint})" if self.hint else ""))


class IncompleteAnswer(LspToolsError):
    """`value` of an `answer` that is not complete."""

    def __init__(self, answer: Answer[Any]) -> None:
        self.answer = answer
        super().__init__(f"{answer.tool} answered `{answer.verdict}`, not `complete`: {'; '.join(answer.reasons)}; `raw` has what is known")
