// For src/http/widget-api/, src/domain/threads/
import { expect, test } from "vitest";
import { openScriptedModel } from "../../support/servers/open-model.ts";
import { startTestService, TEST_KEY } from "../../support/servers/service.ts";

async function open() {
  const { server, model } = await openScriptedModel();
  const { url } = await startTestService({ model });
  const send = async (fields: object) => {
    const response = await fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ threadId: "t", userId: "ada", text: "Hi", ...fields }),
    });
    await response.text();
    return response.status;
  };
  const systems = () => server.requests.map(({ body }) => JSON.stringify(body.messages[0]));
  return { send, systems };
}

test("a backend's context and the user's language are the model's for this message alone", async () => {
  const { send, systems } = await open();
  expect(await send({ context: { plan: "pro", seats: 3, trial: false }, locale: "de-CH" })).toBe(200);
  expect(await send({})).toBe(200);
  const [first, second] = systems();
  expect(first).toMatch(/visitor_data.*plan.*pro.*seats.*3.*trial.*false.*locale.*de-CH/);
  expect(second).not.toContain("de-CH");
  expect(second).not.toContain("seats");
});

test.each<[string, object, number]>([
  ["a nested context", { context: { a: { b: 1 } } }, 422],
  ["a context that is a list", { context: ["a"] }, 422],
  ["a context over the limit of a text", { context: { a: "x".repeat(2_000) } }, 413],
  ["nested attributes", { attributes: { a: { b: 1 } } }, 422],
  ["attributes with a null", { attributes: { a: null } }, 422],
  ["attributes over 4,000 characters", { attributes: { a: "x".repeat(3_993) } }, 422],
  ["a locale that is none", { locale: "German, please" }, 422],
])("%s is refused, and asks no model", async (_what, fields, status) => {
  const { send, systems } = await open();
  expect(await send(fields)).toBe(status);
  expect(systems()).toEqual([]);
});
