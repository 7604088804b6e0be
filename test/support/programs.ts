import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** A program besides Node that some tests start, by the project that needs it (test/vitest.config.ts). */
export type Program = keyof typeof PROGRAMS;

export const PROGRAMS = {
  redis: { package: "redis-server", commands: ["redis-server"] },
  browser: {
    package: "chromium",
    // CHROMIUM, a path or a name, stands for all of them. The first is Chromium without its windows: it draws a page in half
    // the time, and Debian has it.
    commands: process.env["CHROMIUM"]
      ? [process.env["CHROMIUM"]]
      : ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
  },
} as const;

/** Where the program is; null: none of its commands is on the PATH. */
export function pathOf(program: Program): string | null {
  const paths = PROGRAMS[program].commands.map(pathOfCommand);
  return paths.find((path) => path !== null) ?? null;
}

/** A Chromium with a page cache, which the one without windows has not; null: there is none. */
export function pathOfPageCache(): string | null {
  const whole = PROGRAMS.browser.commands.filter((command) => !command.includes("headless-shell"));
  return whole.map(pathOfCommand).find((path) => path !== null) ?? null;
}

export function pathOfCommand(command: string): string | null {
  const folders = isAbsolute(command) ? [""] : (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, command)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
