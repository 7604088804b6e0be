import { imageCommand, imageEnvironment, imageHealthCheck, imageScript } from "./dockerfile.ts";
import type { Machine, Ran, RunOptions } from "./machine.ts";

/** Something that a person does on a fresh machine, and what they must see. */
export interface Step {
  name: string;
  does(machine: Machine): Promise<Ran>;
  /** Exit code 0, unless it says otherwise. */
  code?: number;
  says: readonly (string | RegExp)[];
  /** Lines of what it said that a reader wants to see. */
  shows: RegExp;
}

/**
 * Starts a service by `command` on any free port, pastes the line that it prints, looks at its first page, and stops it:
 * Ctrl-C reaches the whole group, as at a terminal.
 */
function serves(
  command: string,
  { port = "0", stop = "INT", look = ":" }: { port?: string; stop?: string; look?: string } = {},
): string {
  return `
set -m
said=$HOME/said log=$HOME/log
PORT=${port} DEMO_PORT= ${command} >$log 2>$said &
service=$!
for try in $(seq 600); do grep -q '^curl ' $said && break; kill -0 $service 2>/dev/null || break; sleep 0.2; done
cat $said
grep '^curl ' $said >$HOME/paste || { cat $log; wait $service; exit $?; }
bash $HOME/paste
${look}
curl -s $(sed -n 's/^ *Chat agent *//p' $said)/ | grep -o '<title>.*</title>'
kill -${stop} -- -$service
wait $service
echo "exit code $?"
grep -o '"listener":"[a-z]*"' $log
`;
}

/** A health check needs to know it. */
const IMAGE_PORT = String(20_000 + (process.pid % 10_000));

const GREETS = ["Paste this to talk to it", '"type":"done"', "<title>Chat Agent Service</title>"];
const SHOWN = /^ {2}(Chat agent|Model) |"type":"done"|<title>|^exit code|listener|^npm error|^Cannot|^added/;

const run = (script: string, options: RunOptions) => (machine: Machine) => machine.run(script, options);

function inCheckout(name: string, script: string, options: RunOptions = {}) {
  return async (machine: Machine) => {
    machine.checkOut(name);
    return machine.run(script, { folder: name, ...options });
  };
}

export const STEPS: readonly Step[] = [
  {
    name: "npm ci && npm start, the pasted line, Ctrl-C",
    does: inCheckout("plain", `npm ci && ${serves("npm start")}`),
    says: GREETS,
    shows: SHOWN,
  },
  {
    name: "node dist/… serve, Ctrl-C ends with 0",
    does: run(serves("node dist/src/cli/chat-agent.js serve"), { folder: "plain" }),
    says: [...GREETS, "exit code 0"],
    shows: SHOWN,
  },
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
    says: GREETS,
    shows: /node_modules|^ {2}Chat agent |"type":"done"|^npm error|^Cannot|^added/,
  },
  {
    name: "NODE_ENV=production npm ci && npm start",
    does: inCheckout("production", `npm ci && ${serves("npm start")}`, { env: { NODE_ENV: "production" } }),
    says: GREETS,
    shows: SHOWN,
  },
  {
    name: "a read-only checkout, DATA_DIR elsewhere",
    does: run(serves("env DATA_DIR=$HOME/data npm start"), { folder: "omit", readOnly: ["omit"] }),
    says: GREETS,
    shows: SHOWN,
  },
  {
    name: "npx chat-agent in a read-only checkout",
    does: run("npx chat-agent --version", { folder: "omit", readOnly: ["omit"] }),
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
  {
    name: "npm pack, npm i -g, chat-agent serve",
    does: run(
      `npm pack --silent --pack-destination $HOME && cd && npm i -g --prefix $HOME/global ./chat-agent-service-*.tgz && ls global/lib/node_modules/chat-agent-service && export PATH=$HOME/global/bin:$PATH DATA_DIR=$HOME/packed && ${serves("chat-agent serve")}`,
      { folder: "plain" },
    ),
    says: [...GREETS, "exit code 0", /chat-agent-service-.*\.tgz/],
    shows: SHOWN,
  },
  {
    name: "the Dockerfile's steps, one by one",
    does: run(imageScript("/home/visitor/plain"), { as: "root" }),
    says: [/\/app\n/],
    shows: /^\+ \(|^added|\/app$/,
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
    says: [...GREETS, "healthy", "Read-only file system", "exit code 0"],
    shows: /^ {2}(Chat agent|Model|Demo page) |"type":"done"|<title>|^exit code|healthy|touch:/,
  },
  {
    name: "Node 18 is named",
    does: run("npx -y -p node@18 node dist/src/cli/chat-agent.js serve", { folder: "plain" }),
    code: 1,
    says: [/Cannot run: this is Node 18\.\S+ and it takes Node 20\.19 or newer/],
    shows: /^Cannot/,
  },
];

/** As far as it can without root: half an hour, so only where it is asked for. */
export const TESTS: Step = {
  name: "npm test, without Redis and Chromium",
  does: run("npm test", { folder: "plain" }),
  says: ["sudo apt-get install -y redis-server chromium", "Skipped meanwhile", /Tests .*passed/],
  shows: /apt-get install|Skipped meanwhile|Test Files|^ *Tests |FAIL/,
};
