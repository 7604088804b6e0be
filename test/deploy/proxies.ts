import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { emptyFolder } from "../support/stores/data-dir.ts";
import { hold, say, startModelServer } from "../support/servers/model-server.ts";
import { TEST_KEY } from "../support/servers/service.ts";
import { openServiceProcess } from "../support/servers/service-process.ts";
import { freePort } from "../support/servers/free-port.ts";
import { pathOfCommand } from "../support/programs.ts";
import { until } from "../support/until.ts";

/** The proxies of Debian, each with the lines of src/deploy, before a service of a test. */
export interface Proxy {
  name: string;
  /** Its command; Debian's package has the same name. */
  command: string;
  /** Debian keeps servers where only root looks. */
  path: string | null;
  /** What it speaks to the service when a client speaks HTTP/1.0. */
  speaksTo10: "HTTP/1.1" | "HTTP/1.0";
  start(options: { listen: number; upstream: number; folder: string; text: string }): {
    args: string[];
    env?: Record<string, string>;
  };
  /** Its file in src/deploy. */
  file: string;
}

const deployFolder = fileURLToPath(new URL("../../src/deploy/", import.meta.url));

function pathOfServer(command: string): string | null {
  return pathOfCommand(command) ?? pathOfCommand(join("/usr/sbin", command));
}

/** The file as it is, but for its two addresses: a test has no port 80. */
function between(
  text: string,
  listens: string,
  { listen, upstream }: { listen: number; upstream: number },
): string {
  const moved = text
    .replace(listens, `127.0.0.1:${listen}`)
    .replace("127.0.0.1:8080", `127.0.0.1:${upstream}`);
  expect(moved).toContain(`127.0.0.1:${listen}`);
  expect(moved).toContain(`127.0.0.1:${upstream}`);
  return moved;
}

export const PROXIES: readonly Proxy[] = [
  {
    name: "nginx",
    command: "nginx",
    path: pathOfServer("nginx"),
    speaksTo10: "HTTP/1.1",
    file: "nginx.conf",
    start({ listen, upstream, folder, text }) {
      const server = join(folder, "server.conf");
      writeFileSync(
        server,
        between(text.replace("listen 80;", "listen ADDRESS;"), "ADDRESS", { listen, upstream }),
      );
      const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${folder}/${name};`,
      );
      const main = join(folder, "nginx.conf");
      writeFileSync(
        main,
        `daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${places.join(" ")} include ${server}; }`,
      );
      return { args: ["-p", folder, "-c", main, "-e", "stderr"] };
    },
  },
  {
    name: "haproxy",
    command: "haproxy",
    path: pathOfServer("haproxy"),
    speaksTo10: "HTTP/1.0",
    file: "haproxy.cfg",
    start({ listen, upstream, folder, text }) {
      const file = join(folder, "haproxy.cfg");
      writeFileSync(file, between(text.replace("bind :80", "bind ADDRESS"), "ADDRESS", { listen, upstream }));
      return { args: ["-db", "-f", file] };
    },
  },
  {
    name: "caddy",
    command: "caddy",
    path: pathOfServer("caddy"),
    speaksTo10: "HTTP/1.1",
    file: "Caddyfile",
    start({ listen, upstream, folder, text }) {
      const file = join(folder, "Caddyfile");
      // Its administration has a port of its own.
      writeFileSync(file, `{\n\tadmin off\n}\n${text}`);
      return {
        args: ["run", "--config", file, "--adapter", "caddyfile"],
        env: {
          SITE: `http://127.0.0.1:${listen}`,
          UPSTREAM: `127.0.0.1:${upstream}`,
          HOME: folder,
          XDG_DATA_HOME: folder,
          XDG_CONFIG_HOME: folder,
        },
      };
    },
  },
];

/** Starts it before the service at `serviceUrl`, with the lines of its file, or others. */
export async function openProxy(
  proxy: Proxy,
  serviceUrl: string,
  { text }: { text?: string } = {},
): Promise<{ url: string; close: () => Promise<void> }> {
  if (proxy.path === null) throw new Error(`Cannot start ${proxy.name}: it is not installed`);
  const folder = emptyFolder();
  const listen = await freePort();
  const upstream = Number(new URL(serviceUrl).port);
  const lines = text ?? readFileSync(join(deployFolder, proxy.file), "utf8");
  const { args, env = {} } = proxy.start({ listen, upstream, folder, text: lines });
  const child = spawn(proxy.path, args, {
    cwd: folder,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (piece: string) => (said += piece));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  await until(
    `${proxy.name} listens`,
    async () => child.exitCode !== null || (await isListening(listen)),
  ).catch((error: unknown) => {
    child.kill("SIGKILL");
    throw error;
  });
  if (child.exitCode !== null) throw new Error(`Cannot start ${proxy.name}: ${said}`);
  return {
    url: `http://127.0.0.1:${listen}`,
    async close() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** A service with a model that holds its reply, behind a proxy. `text`: of the proxy's file; absent: as it is in src/deploy. */
export async function openBehind(proxy: Proxy, env: Record<string, string> = {}, text?: string) {
  const model = await startModelServer(() => [say("Hello"), hold(), say(" there")]);
  const service = await openServiceProcess({
    DATA_DIR: emptyFolder(),
    HARNESS_API_KEY: TEST_KEY,
    OPENAI_BASE_URL: model.baseUrl,
    CLIENT_IP_SOURCE: "x-forwarded-for",
    TRUSTED_PROXY_HOPS: "1",
    WIDGET_VISITORS_PER_HOUR_PER_IP: "1",
    ...env,
  });
  const opening = openProxy(proxy, service.url, text === undefined ? {} : { text });
  // Nobody else ends what was opened before it.
  opening.catch(() => Promise.all([service.close(), model.close()]));
  const { url, close } = await opening;
  return {
    url,
    model,
    service,
    async close() {
      await close();
      await service.close();
      await model.close();
    },
  };
}

export interface Asked {
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  /** The address that the client has. */
  from?: string;
}

/** One request on a connection of its own. Resolves at the answer's head. */
export function askProxy(
  url: string,
  { path, method = "GET", headers = {}, body, from }: Asked,
): Promise<IncomingMessage> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        hostname,
        port,
        path,
        method,
        headers,
        agent: false,
        ...(from === undefined ? {} : { localAddress: from }),
      },
      resolve,
    );
    asked.once("error", reject);
    asked.end(body);
  });
}

/** What came so far of an answer's body, as bytes. */
export function collect(answer: IncomingMessage): { bytes: () => Buffer; ended: Promise<void> } {
  const pieces: Buffer[] = [];
  answer.on("data", (piece: Buffer) => pieces.push(piece));
  return {
    bytes: () => Buffer.concat(pieces),
    ended: new Promise((resolve, reject) => {
      answer.once("end", () => resolve());
      answer.once("error", reject);
    }),
  };
}
