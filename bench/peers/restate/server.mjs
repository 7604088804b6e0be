// Restate's server, the services that it calls, and the entry, which passes a message on and streams what is published for it.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { createPubsubObject } from "@restatedev/pubsub";
import { createPubsubClient } from "@restatedev/pubsub-client";
import * as restate from "@restatedev/restate-sdk";
import { connect } from "@restatedev/restate-sdk-clients";
import { createChat } from "./chat.mjs";

const HOST = "127.0.0.1";
const [ingressPort, adminPort, nodePort] = await Promise.all([freePort(), freePort(), freePort()]);
const ingress = connect({ url: `http://${HOST}:${ingressPort}` });
// The pause between two polls; by default a second.
const pubsub = createPubsubClient(ingress, { name: "pubsub", pullInterval: { milliseconds: 10 } });
const chat = createChat(pubsub);

const services = [chat, createPubsubObject("pubsub", {})];
const servicePort = await listen(createHttp2Server(restate.createEndpointHandler({ services })));
spawn("node_modules/@restatedev/restate-server-linux-x64/bin/restate-server", {
  env: {
    RESTATE_BASE_DIR: process.env.DATA_DIR,
    RESTATE_DISABLE_TELEMETRY: "true",
    RESTATE_LISTEN_MODE: "tcp",
    RESTATE_BIND_IP: HOST,
    RESTATE_BIND_PORT: String(nodePort),
    RESTATE_INGRESS__BIND_ADDRESS: `${HOST}:${ingressPort}`,
    RESTATE_ADMIN__BIND_ADDRESS: `${HOST}:${adminPort}`,
  },
  stdio: "inherit",
});
while (!(await register())) await new Promise((resolve) => setTimeout(resolve, 100));

const door = createServer((request, response) => {
  say(request, response).catch((error) => {
    console.error(error);
    response.destroy();
  });
});
console.log(JSON.stringify({ url: `http://${HOST}:${await listen(door)}` }));

async function say(request, response) {
  request.setEncoding("utf8");
  let body = "";
  for await (const part of request) body += part;
  const { threadId, text } = JSON.parse(body);
  const topic = randomUUID();
  await ingress.objectSendClient(chat, threadId).say({ text, topic });
  response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
  for await (const line of pubsub.pull({ topic, offset: 0 })) {
    response.write(`${JSON.stringify(line)}\n`);
    if (line.type === "done") break;
  }
  response.end();
}

/** Tells Restate where the services are. */
async function register() {
  const deployment = { uri: `http://${HOST}:${servicePort}` };
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify(deployment);
  try {
    return (await fetch(`http://${HOST}:${adminPort}/deployments`, { method: "POST", headers, body })).ok;
  } catch {
    return false;
  }
}

async function listen(server) {
  server.listen(0, HOST);
  await once(server, "listening");
  return server.address().port;
}

async function freePort() {
  const server = createServer();
  const port = await listen(server);
  server.close();
  return port;
}
