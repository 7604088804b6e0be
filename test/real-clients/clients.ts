import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { pathOfCommand } from "../support/programs.ts";

/** A program that reads a stream as its documentation says, and prints each line as soon as it has it. */
export interface Client {
  name: string;
  /** Debian's package. */
  package: string;
  /** What it may ask for; one that does not decompress asks for nothing. */
  codings: readonly ("identity" | "gzip")[];
  /** Compiled for each run: played only with REAL_CLIENTS=all. */
  isSlow?: boolean;
  /** Command and arguments for this address and coding; null: it is not here. */
  command(url: string, coding: string): readonly string[] | null;
  /** Its version, from what prints it. */
  version(): string | null;
}

const BOTH = ["identity", "gzip"] as const;
const PLAIN = ["identity"] as const;
const scripts = fileURLToPath(new URL("clients/", import.meta.url));

/** What a command prints; null where it fails, or is not there. */
function printed(command: string, ...args: string[]): string | null {
  try {
    return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return null;
  }
}

function versionIn(text: string | null): string | null {
  return /\d+\.\d+(?:\.\d+)?/.exec(text ?? "")?.[0] ?? null;
}

/** Debian's Python before one that stands before it on the PATH, and that lacks Debian's packages. */
function pythonWith(module: string): string | null {
  const paths = ["/usr/bin/python3", pathOfCommand("python3")];
  return paths.find((path) => path !== null && printed(path, "-c", `import ${module}`) !== null) ?? null;
}

function python(name: string, debian: string, module: string, codings: Client["codings"]): Client {
  const path = pythonWith(module);
  const version = module === "urllib" ? "platform.python_version()" : `${module}.__version__`;
  const named = module === "urllib" ? "platform" : module;
  return {
    name,
    package: debian,
    codings,
    command: (url, coding) => (path === null ? null : [path, `${scripts}python_${module}.py`, url, coding]),
    version: () => path && versionIn(printed(path, "-c", `import ${named}; print(${version})`)),
  };
}

function script(
  client: Pick<Client, "name" | "package" | "codings" | "isSlow">,
  [command, ...args]: [string, ...string[]],
  { version, needs = version }: { version: string[]; needs?: string[] },
): Client {
  const isHere = printed(command, ...needs) !== null;
  return {
    ...client,
    command: (url, coding) => (isHere ? [command, ...args, url, coding] : null),
    version: () => (isHere ? versionIn(printed(command, ...version)) : null),
  };
}

export const CLIENTS: readonly Client[] = [
  {
    name: "curl",
    package: "curl",
    codings: BOTH,
    command(url, coding) {
      const options = coding === "gzip" ? ["--compressed"] : [];
      const message = ["-H", "content-type: application/json", "-d", '{"text":"Hi"}'];
      return pathOfCommand("curl") === null ? null : ["curl", "-sSN", "--fail", ...options, ...message, url];
    },
    version: () => versionIn(printed("curl", "--version")),
  },
  python("Python, requests", "python3-requests", "requests", BOTH),
  python("Python, httpx", "python3-httpx", "httpx", BOTH),
  python("Python, aiohttp", "python3-aiohttp", "aiohttp", BOTH),
  python("Python, urllib.request", "python3", "urllib", PLAIN),
  script({ name: "Ruby, Net::HTTP", package: "ruby", codings: BOTH }, ["ruby", `${scripts}net_http.rb`], {
    version: ["--version"],
  }),
  script({ name: "PHP, fopen", package: "php-cli", codings: PLAIN }, ["php", `${scripts}fopen.php`], {
    version: ["-r", "echo PHP_VERSION;"],
  }),
  script({ name: "PHP, curl", package: "php-curl", codings: BOTH }, ["php", `${scripts}curl.php`], {
    version: ["-r", "echo PHP_VERSION;"],
    needs: ["-r", "exit((int) !function_exists('curl_init'));"],
  }),
  script(
    { name: "Go, net/http", package: "golang-go", codings: BOTH, isSlow: true },
    ["go", "run", `${scripts}client.go`],
    { version: ["version"] },
  ),
  script(
    { name: "Java, HttpClient", package: "default-jdk-headless", codings: PLAIN, isSlow: true },
    ["java", `${scripts}Client.java`],
    { version: ["--version"] },
  ),
];
