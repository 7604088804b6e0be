import { readFileSync } from "node:fs";
import type { Debian } from "./machine.ts";
import { GREETS, SERVE, SHOWN, run, serves } from "./step.ts";
import type { Step } from "./step.ts";

/** What listens on a fresh machine, by the table of src/listeners/README.md, and how the start tells it. */
const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  optionalDependencies: Record<string, string>;
};
const INSTALLED = `uWebSockets.js@${manifest.optionalDependencies["uWebSockets.js"]}`;
const NODES_WITH_BUILD = ["20", "22", "24"];
const OLD_GLIBC = "uWebSockets.js needs glibc 2.38 or newer, as in Debian 13 and Ubuntu 24.04";

/** What a start says with this Node on that Debian. */
export function listens(debian: Debian): string[] {
  const why = whyNotNative(debian);
  return why === null ? ['"listener":"uws"'] : fallsBack(why);
}

export function nativeStep(debian: Debian): Step {
  const why = whyNotNative(debian);
  const { modules } = process.versions;
  const loaded = "grep -o '/uws_[^/]*$' /proc/$service/maps | sort -u";
  const loads = {
    says: [...GREETS, INSTALLED, `/uws_linux_${process.arch}_${modules}.node`, '"listener":"uws"'],
  };
  return {
    name: why === null ? "LISTENER=uws, its version and its build" : "LISTENER=uws says why it cannot",
    does: run(`npm ls uWebSockets.js && ${serves(SERVE, { look: loaded })}`, {
      folder: "plain",
      env: { LISTENER: "uws" },
    }),
    ...(why === null ? loads : { code: 1, says: [INSTALLED, `Cannot listen with uWebSockets.js: ${why}`] }),
    shows: /uWebSockets|uws_|"listener"|^exit code/,
  };
}

export const WITHOUT_NATIVE: Step = {
  name: "without node_modules/uWebSockets.js",
  does: run(`rm -r node_modules/uWebSockets.js && ${serves("npm start")}`, { folder: "production" }),
  says: [...GREETS, ...fallsBack("uWebSockets.js is not installed")],
  shows: SHOWN,
};

export const NODE_WITHOUT_BUILD: Step = {
  name: "Node 26, for which it has no build",
  does: run(serves(`npx -y -p node@26 ${SERVE}`), { folder: "plain" }),
  says: [...GREETS, "uWebSockets.js has no build for Node 26.", ...fallsBack(`on linux ${process.arch}`)],
  shows: SHOWN,
};

function fallsBack(why: string): string[] {
  return ['"listener":"node"', `${why}; node:http listens`];
}

function whyNotNative(debian: Debian): string | null {
  const { node } = process.versions;
  const [major = ""] = node.split(".", 1);
  if (!NODES_WITH_BUILD.includes(major))
    return `uWebSockets.js has no build for Node ${node} on linux ${process.arch}`;
  return debian === "12" ? OLD_GLIBC : null;
}
