/** The environment does not parse. The message is one line: which variable, what it got, what it takes. */
export class ConfigError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "ConfigError";
  }
}
