/** What the server needs of a logger; a pino instance is one. Nothing secret and no message content goes in. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
