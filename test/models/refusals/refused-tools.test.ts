// For src/models/refusals/refused-tools.ts
import { expect, onTestFinished, test } from "vitest";
import { learn } from "../../../src/models/refusals/learn.ts";
import { openOpenAi } from "../../../src/models/openai.ts";
import { PROFILE_NAMES, PROFILES } from "../../../src/models/refusals/profiles.ts";
import type { ProfileName } from "../../../src/models/refusals/profiles.ts";
import { NO_QUIRKS } from "../../../src/models/refusals/quirks.ts";
import { readRefusal } from "../../../src/models/refusals/refusal.ts";
import { toolName } from "../../../src/models/refusals/refused-tools.ts";
import { requestBody } from "../../../src/models/request/request-body.ts";
import { startModelServer, status } from "../../support/servers/model-server.ts";
import type { Script } from "../../support/servers/model-server.ts";
import { noPause, plainRequest, startTurn } from "../../support/servers/open-model.ts";
import { ROOMY_LIMITS, startTestService } from "../../support/servers/service.ts";
import { openShopper, shopChannel, textOf } from "../shopper.ts";

const tool = (name: string, more: object = {}) => ({
  name,
  description: "",
  parameters: { type: "object", properties: {}, ...more },
});
const odd = { odd: { type: "string" } };
const bad = (name: string) => tool(name, { properties: odd });
const tools = ["find", "buy", "pay", "update-event"].map((name) => tool(name));
const error = (message: string, param: string | null = null) =>
  JSON.stringify({ error: { message, type: "invalid_request_error", param, code: null } });

const bodyWith = (quirks: typeof NO_QUIRKS) =>
  requestBody({ ...plainRequest, tools }, { by: "p/m", model: "m", quirks, body: {} });

const refused = (text: string, profile: ProfileName | null) => ({
  refusal: readRefusal(400, text),
  body: bodyWith(NO_QUIRKS),
  profile: profile && PROFILES[profile],
});

test.each<[server: string, profile: ProfileName, text: string, left: string[]]>([
  [
    "OpenAI",
    "openai",
    error(
      "Invalid schema for function 'update-event': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
      "tools[3].function.parameters",
    ),
    ["find", "buy", "pay"],
  ],
  [
    "OpenAI, of a description",
    "openai",
    error("Invalid 'tools[1].function.description': string too long.", "tools[1].function.description"),
    ["find", "pay", "update-event"],
  ],
  [
    "Groq",
    "groq",
    error("invalid JSON schema for tool pay, tools[2].function.parameters: `/properties/a`: want string"),
    ["find", "buy", "update-event"],
  ],
  [
    "Anthropic by its OpenAI door",
    "anthropic",
    error(
      "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
    ),
    ["buy", "pay", "update-event"],
  ],
  [
    "Bedrock",
    "bedrock",
    error("The value at toolConfig.tools.1.toolSpec.inputSchema.json.type must be one of: object."),
    ["find", "pay", "update-event"],
  ],
  [
    "Gemini",
    "gemini",
    '[{"error":{"code":400,"message":"* GenerateContentRequest.tools[0].function_declarations[1].parameters.required[0]: property is not defined\\n* GenerateContentRequest.tools[0].function_declarations[3].parameters.properties[a].items: missing field.\\n","status":"INVALID_ARGUMENT"}}]',
    ["find", "pay"],
  ],
  [
    "a server in Python",
    "vllm",
    '{"detail":[{"loc":["body","tools",2,"function","parameters"],"msg":"Input should be a valid dictionary"}]}',
    ["find", "buy", "update-event"],
  ],
])("the tools that %s names are left out, and no others", (_server, profile, text, left) => {
  const learned = learn(refused(text, profile), NO_QUIRKS)?.apply(NO_QUIRKS);
  expect(bodyWith(learned ?? NO_QUIRKS).tools?.map(toolName)).toEqual(left);
});

test.each([
  [
    "a keyword that was left out already",
    `Unknown name "$schema" at 'tools[0].function_declarations[0].parameters'`,
  ],
  ["a tool that was not sent", "Invalid schema for function 'sell': no"],
  ["a place that was not sent", "tools.7.custom.input_schema: no"],
  ["a field of a tool", "Unknown parameter: 'tools[0].function.strict'."],
])("%s leaves no tool out", (_what, message) => {
  for (const profile of [null, ...PROFILE_NAMES])
    expect(learn(refused(error(message), profile), NO_QUIRKS)).toBeNull();
});

/** Refuses a tool that takes `odd`, the first one alone, as OpenAI does. */
const strict: Script = ({ body }) => {
  const wrong = body.tools?.find((one) => JSON.stringify(one).includes('"odd"'));
  return wrong
    ? [
        status(
          400,
          {},
          error(`Invalid schema for function '${toolName(wrong)}': In context=('properties', 'odd'), no.`),
        ),
      ]
    : "So it is.";
};

async function openStrict() {
  const server = await startModelServer(strict);
  const warnings: object[] = [];
  const log = { warn: (fields: object) => void warnings.push(fields) };
  const model = openOpenAi({
    apiKey: null,
    baseUrl: server.baseUrl,
    silenceMs: 30_000,
    pause: noPause,
    profile: "openai",
    log,
  });
  onTestFinished(async () => {
    await model.close();
    await server.close();
  });
  const offered = () => server.requests.at(-1)?.body.tools?.map(toolName);
  return { server, model, warnings, offered };
}

test("a refused tool is left out, with one warning, and one of its name with another schema is not", async () => {
  const { server, model, warnings, offered } = await openStrict();
  const ask = (...given: ReturnType<typeof tool>[]) => startTurn(model, { request: { tools: given } }).turn;
  expect((await ask(tool("find"), bad("buy"), bad("pay"))).text).toBe("So it is.");
  expect([server.requests.length, offered()]).toEqual([3, ["find"]]);
  expect(warnings).toMatchObject([
    { model: "openai/scripted", tools: ["buy"] },
    { model: "openai/scripted", tools: ["pay"] },
  ]);
  await ask(tool("find"), bad("buy"), tool("pay"));
  expect([server.requests.length, offered()]).toEqual([4, ["find", "pay"]]);
  // Nothing is left: an empty list would be refused.
  await ask(bad("buy"));
  expect(server.requests.at(-1)?.body).not.toHaveProperty("tools");
  expect(warnings).toHaveLength(2);
});

test("turns that are refused together warn once, and all that they learn is kept", async () => {
  const { server, model, warnings, offered } = await openStrict();
  const ask = (...given: ReturnType<typeof tool>[]) => startTurn(model, { request: { tools: given } }).turn;
  await Promise.all([ask(bad("buy")), ask(bad("buy")), ask(bad("pay"))]);
  expect(warnings).toHaveLength(2);
  const asked = server.requests.length;
  await ask(tool("find"), bad("buy"), bad("pay"));
  expect([server.requests.length - asked, offered()]).toEqual([1, ["find"]]);
});

test("a turn asks a bounded number of times, and the next one goes on from there", async () => {
  const { server, model } = await openStrict();
  const request = { tools: Array.from({ length: 40 }, (_, nth) => bad(`t${nth}`)) };
  await expect(startTurn(model, { request }).turn).rejects.toThrow("The model answered with an error (400)");
  expect(server.requests).toHaveLength(33);
  expect((await startTurn(model, { request }).turn).text).toBe("So it is.");
  expect(server.requests).toHaveLength(41);
});

test("a page's tool that the model refuses costs the visitor no answer", async () => {
  const { server, model, offered } = await openStrict();
  const service = await startTestService({ env: ROOMY_LIMITS, model, channels: [shopChannel()] });
  const shopper = await openShopper(
    () => service.url,
    [
      { name: "find", inputSchema: { type: "object", properties: {} } },
      { name: "buy", inputSchema: { type: "object", properties: odd } },
    ],
  );
  for (const text of ["Hello", "Thanks"]) {
    const lines = await shopper.say(text);
    expect([textOf(lines), lines.at(-1)?.type]).toEqual(["So it is.", "done"]);
  }
  expect([server.requests.length, offered()]).toEqual([3, ["find", "task_failed"]]);
});
