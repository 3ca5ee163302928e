/**
 * What the client whose prompt runs does for the tools of its Turn. A port: only what that client has offered is there.
 * It belongs to one connection and never outlives it; afterwards every function rejects.
 *
 * All functions throw the signal's reason, and CoreError: `client_refused` (nothing has happened), `timeout`,
 * `outcome_unknown` (the connection went first, or the answer could not be read).
 */
export interface ClientServices {
  /** A whole file as the client has it, with what a person has not saved. The path is absolute. */
  readTextFile?(path: string, signal: AbortSignal): Promise<string>;
  writeTextFile?(path: string, content: string, signal: AbortSignal): Promise<void>;
  /** Starts a command in a terminal of the client's. */
  openTerminal?(command: TerminalCommand, signal: AbortSignal): Promise<ClientTerminal>;
  /** Puts a question to the person; undefined when they declined. Takes as long as a permission may. */
  ask?(question: Question, signal: AbortSignal): Promise<string | undefined>;
}

export interface TerminalCommand {
  command: string;
  args: string[];
  cwd: string;
  /** How much output the client is to keep: the last of it. */
  outputBytes: number;
}

/** A terminal that is still the client's to show. Disposing it lets go of it, and ends what still runs in it. */
export interface ClientTerminal extends Disposable {
  readonly terminalId: string;
  /** Waits for the end of the command. */
  exited(signal: AbortSignal): Promise<TerminalExit>;
  /** What the client kept of the output so far. */
  output(): Promise<{ text: string; truncated: boolean }>;
  /** Ends the command. */
  kill(): Promise<void>;
}

interface TerminalExit {
  /** Null when a signal ended it. */
  code: number | null;
  killedBy: string | null;
}

export interface Question {
  callId: string;
  text: string;
  /** The answers to choose from; any text where there are none. */
  options?: string[] | undefined;
}
