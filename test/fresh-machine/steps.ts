import { readFileSync } from "node:fs";
import { imageCommand, imageEnvironment, imageHealthCheck, imageScript } from "./dockerfile.ts";
import { NODE_WITHOUT_BUILD, WITHOUT_NATIVE, listens, nativeStep } from "./listener.ts";
import type { Debian } from "./machine.ts";
import { GREETS, SERVE, SHOWN, inCheckout, run, serves } from "./step.ts";
import type { Step } from "./step.ts";

/** A health check needs to know it. */
const IMAGE_PORT = String(20_000 + (process.pid % 10_000));

const UNIT_ENVIRONMENT = Object.fromEntries(
  ofUnit("Environment")
    .split(" ")
    .map((pair) => pair.split("=") as [string, string]),
);

/** As src/deploy/README.md has it. The first line undoes what an earlier time, or the image, has put there. */
const INSTALLS_UNIT = `
rm -rf /usr/local/bin/chat-agent /usr/local/lib/node_modules/chat-agent-service
id chat-agent || /usr/sbin/useradd chat-agent
mkdir -p ${UNIT_ENVIRONMENT["DATA_DIR"]}
cd /home/visitor/plain && npm pack && npm i -g ./chat-agent-service-*.tgz && cd / && chat-agent --version`;

/** What is played, each step after the others: later ones use the checkouts of earlier ones. */
export function stepsOn(debian: Debian): readonly Step[] {
  const greets = [...GREETS, ...listens(debian)];
  return [
    {
      name: "npm ci && npm start, the pasted line, Ctrl-C",
      does: inCheckout("plain", `npm ci && ${serves("npm start")}`),
      says: [...greets, "exit code 0"],
      shows: SHOWN,
    },
    {
      name: "node dist/… serve, Ctrl-C ends with 0",
      does: run(serves(SERVE), { folder: "plain" }),
      says: [...greets, "exit code 0"],
      shows: SHOWN,
    },
    nativeStep(debian),
    {
      name: "npx chat-agent changes nothing of a build",
      does: run(
        "touch ../mark && npx chat-agent --version && npx chat-agent --help | head -1 && find dist -newer ../mark",
        {
          folder: "plain",
        },
      ),
      says: [/^\d+\.\d+\.\d+\S*\nUsage: chat-agent/],
      shows: /./,
    },
    {
      name: "half a build is named by npm start",
      does: run("mv dist/demo ../demo; npm start; code=$?; mv ../demo dist/demo; exit $code", {
        folder: "plain",
      }),
      code: 1,
      says: ["half a build"],
      shows: /^Cannot/,
    },
    {
      name: "npm ci --omit=dev && npm start",
      does: inCheckout("omit", `npm ci --omit=dev && du -sh node_modules && ${serves("npm start")}`),
      says: greets,
      shows: new RegExp(`node_modules$|${SHOWN.source}`),
    },
    {
      name: "NODE_ENV=production npm ci && npm start",
      does: inCheckout("production", `npm ci && ${serves("npm start")}`, { env: { NODE_ENV: "production" } }),
      says: greets,
      shows: SHOWN,
    },
    {
      name: "a read-only checkout, DATA_DIR elsewhere",
      does: run(serves("env DATA_DIR=$HOME/data npm start"), { folder: "omit", readOnly: ["omit"] }),
      says: greets,
      shows: SHOWN,
    },
    {
      name: "npm run -s agent in a read-only checkout, where npx cannot work",
      does: run("npm run -s agent -- --version", { folder: "omit", readOnly: ["omit"] }),
      says: [/^\d+\.\d+\.\d+/m],
      shows: /./,
    },
    {
      name: "a read-only checkout names DATA_DIR",
      does: run("npm start", {
        folder: "production",
        readOnly: ["production"],
        env: { DATA_DIR: "./elsewhere" },
      }),
      code: 1,
      says: ["Cannot write to DATA_DIR ./elsewhere: EROFS"],
      shows: /^Cannot/,
    },
    WITHOUT_NATIVE,
    {
      name: "npm pack, npm i -g, chat-agent serve",
      does: run(
        `npm pack --silent --pack-destination $HOME && cd && npm i -g --prefix $HOME/global ./chat-agent-service-*.tgz && ls global/lib/node_modules/chat-agent-service && export PATH=$HOME/global/bin:$PATH DATA_DIR=$HOME/packed && ${serves("chat-agent serve")}`,
        { folder: "plain" },
      ),
      says: [...greets, "exit code 0", /chat-agent-service-.*\.tgz/],
      shows: SHOWN,
    },
    {
      name: "npm pack and npm i -g as root, for systemd",
      does: run(INSTALLS_UNIT, { as: "root" }),
      says: [/^\d+\.\d+\.\d+/m],
      shows: /^npm error|^added|^\d+\./,
    },
    {
      name: "what the unit starts, read-only but for its folder and /tmp, SIGTERM",
      does: run(serves(ofUnit("ExecStart"), { stop: "TERM" }), {
        as: "chat-agent",
        writable: [UNIT_ENVIRONMENT["DATA_DIR"] ?? "", "/tmp"],
        env: UNIT_ENVIRONMENT,
      }),
      says: [...greets, "exit code 0"],
      shows: SHOWN,
    },
    // Its image is of Debian 13.
    ...(debian === "13" ? imageSteps(greets) : []),
    NODE_WITHOUT_BUILD,
    {
      name: "Node 18 is named",
      does: run(`npx -y -p node@18 ${SERVE}`, { folder: "plain" }),
      code: 1,
      says: [/Cannot run: this is Node 18\.\S+ and it takes Node 20\.19 or newer/],
      shows: /^Cannot/,
    },
  ];
}

function imageSteps(greets: readonly string[]): Step[] {
  return [
    {
      name: "the Dockerfile's steps, one by one",
      does: run(imageScript("/home/visitor/plain"), { as: "root" }),
      says: [/\/app\n/],
      shows: /^\+ (find|rm)|^added|\t\/app$/,
    },
    {
      name: "what the image starts, read-only but for /data and /tmp, its health check, SIGTERM",
      does: run(
        serves(imageCommand(), {
          port: IMAGE_PORT,
          stop: "TERM",
          look: `PORT=${IMAGE_PORT} ${imageHealthCheck()} && echo "healthy"; touch /app/mark`,
        }),
        { as: "node", writable: ["/data", "/tmp"], env: imageEnvironment() },
      ),
      says: [...greets, "healthy", "Read-only file system", "exit code 0"],
      shows: new RegExp(`^ {2}Demo page |healthy|touch:|${SHOWN.source}`),
    },
  ];
}

/** A line of the unit for systemd. */
function ofUnit(name: string): string {
  const unit = readFileSync(new URL("../../src/deploy/chat-agent.service", import.meta.url), "utf8");
  return new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? "";
}

/** As far as it can without root: three minutes more, only where it is asked for. */
export const TESTS: Step = {
  name: "npm test, without Redis and Chromium",
  does: run("npm test", { folder: "plain" }),
  says: ["sudo apt-get install -y redis-server chromium", "Skipped meanwhile", /Tests .*passed/],
  shows: /apt-get install|Skipped meanwhile|Test Files|^ *Tests |FAIL/,
};
