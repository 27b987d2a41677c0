// Answers with their verdicts, and errors.

import type { Verdict } from "./tools.js";

/** Options of one call: cancellation, time limit. */
export interface CallOptions {
  /** Cancels the call, which then throws the signal's reason. */
  signal?: AbortSignal;
  /** In milliseconds; by default that of the client. */
  timeoutMs?: number;
}

/** The answer of a failed tool. */
export interface Failure {
  code?: string;
  error?: string;
  hint?: string;
}

type Fields = { verdict?: Verdict; notes?: string[]; detail?: string; reason?: string; hint?: string; installer?: string };

/** The answer of a tool: `value` if it is complete, else `raw` with its `verdict`. */
export class Answer<T> {
  /** Takes the name of the tool, and the answer, whatever its verdict. */
  constructor(readonly tool: string, readonly raw: T) {}

  /** The reliability of the answer; undefined if no server was asked. */
  get verdict(): Verdict | undefined {
    return (this.raw as Fields).verdict;
  }

  /** True if nothing is missing from the answer. */
  get complete(): boolean {
    return this.verdict === "complete" || this.verdict === undefined;
  }

  /** The reasons for the verdict, and what to do, in sentences. */
  get reasons(): string[] {
    const whole = this.raw as Fields & { server_status?: Fields; diagnostics?: Fields };
    const parts = [whole.server_status ?? {}, whole.diagnostics ?? {}];
    const single = parts.flatMap(({ detail, reason, hint, installer }) => [detail, reason, hint, installer && `run: ${installer}`]);
    return [...single, ...[whole, ...parts].flatMap(({ notes }) => notes ?? [])].filter((reason) => reason !== undefined);
  }

  /** The answer if it is complete; else throws `IncompleteAnswer`. An edit is done in either case. */
  get value(): T {
    if (!this.complete) throw new IncompleteAnswer(this);
    return this.raw;
  }
}

/** Any error of this package. */
export class LspToolsError extends Error {
  override name = this.constructor.name;
}

/** The program was not found, or cannot be run. */
export class ProgramMissing extends LspToolsError {}

/** The program is older than this package. */
export class ProgramTooOld extends LspToolsError {}

/** The program is not lsp-tools, or ended before the first call. */
export class ProgramUnusable extends LspToolsError {}

/** The program ended during a call, which may have taken effect. The next call starts it again. */
export class ProgramEnded extends LspToolsError {}

/** The daemon ended during a call, which may have taken effect. Calls that only read are repeated once. */
export class DaemonLost extends LspToolsError {}

/** No answer came in time. The call was cancelled. */
export class CallTimeout extends LspToolsError {}

/** The tool refused the call or failed: `code` (`not_found`, `denied`, …), `hint`, and the whole `answer`. */
export class ToolFailed extends LspToolsError {
  readonly code: string;
  readonly hint: string | undefined;

  constructor(readonly tool: string, readonly answer: Failure) {
    super(`${tool}: ${answer.error ?? "failed"}${answer.hint ? ` (${answer.hint})` : ""}`);
    this.code = answer.code ?? "internal";
    this.hint = answer.hint;
  }
}

/** `value` of an `answer` that is not complete. */
export class IncompleteAnswer extends LspToolsError {
  constructor(readonly answer: Answer<unknown>) {
    super(`${answer.tool} answered \`${answer.verdict}\`, not \`complete\`: ${answer.reasons.join("; ")}; \`raw\` has what is known`);
  }
}
