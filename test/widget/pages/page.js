// The page under test: tools of every temper, offered the way that ?tools= says.
const query = new URLSearchParams(location.search);
const agent = document.querySelector("chat-agent");
const said = (text) => ({ content: [{ type: "text", text }] });
const next = () => `/next${location.search}`;
const never = () => new Promise(() => {});

window.calls = [];
window.events = [];
window.addEventListener("pageshow", ({ persisted }) => (window.persisted = persisted));
const run = {
  returns: ({ word = "" }) => said(`returned ${word}`),
  returns_text: () => "just text",
  returns_nothing: () => undefined,
  returns_error: () => ({ isError: true, ...said("sold out") }),
  throws: () => {
    throw new Error("out of stock");
  },
  throws_no_text: () => {
    throw Object.create(null);
  },
  throws_much: () => {
    throw new Error("x".repeat(200_000));
  },
  navigates: () => {
    location.href = next();
    return said("opened it");
  },
  navigates_only: () => {
    location.href = next();
    return never();
  },
  navigates_late: () => {
    setTimeout(() => (location.href = next()), 20);
    return said("will open it");
  },
  reloads: () => {
    location.reload();
    return said("reloaded");
  },
  pushes: () => {
    history.pushState(null, "", `${location.pathname}${location.search}&pushed=1`);
    return said("pushed");
  },
  downloads: () => {
    const link = document.createElement("a");
    link.href = "/file";
    link.download = "file.txt";
    link.click();
    return said("downloaded");
  },
  goes_nowhere: () => {
    location.href = "/nowhere";
    return said("went nowhere");
  },
  is_slow: async (_args, { signal }) => {
    signal?.addEventListener("abort", () => window.calls.push("aborted"));
    await never();
  },
  is_huge: () => "x".repeat(200_000),
  is_refused_413: () => said("too much"),
  is_refused_422: () => said("not understood"),
  is_consequential: () => said("done for good"),
  is_destructive: () => said("gone for good"),
};
const marks = {
  is_consequential: { consequentialHint: true },
  is_destructive: { destructiveHint: true },
};
const schemas = {
  returns_text: {
    type: "object",
    $defs: { Address: { type: "object", properties: { zip: { type: "string" } }, required: ["zip"] } },
    properties: { to: { $ref: "#/$defs/Address" } },
    required: ["to"],
  },
};
const tools = Object.entries(run).map(([name, execute]) => ({
  name,
  description: `A tool that ${name.replaceAll("_", " ")}`,
  inputSchema: schemas[name] ?? { type: "object", properties: { word: { type: "string" } } },
  annotations: marks[name] ?? {},
  execute: (args, options) => {
    window.calls.push(name);
    return execute(args, options);
  },
}));

const source = query.get("tools") ?? "property";
const offered = location.pathname === "/next" && query.has("fewer") ? [] : tools;
window.offered = offered;
function offer() {
  // A page in React gives them itself.
  if (source === "property" && agent !== null && query.get("in") !== "hydrated") agent.tools = offered;
  if (source !== "property") for (const tool of offered) void document.modelContext.registerTool(tool);
}
document.addEventListener("turbo:load", () => (document.querySelector("chat-agent").tools = offered));
if (query.has("late")) addEventListener("load", () => setTimeout(offer, 100));
else offer();
if (query.has("early")) agent.suggestions = ["Soon"];
if (query.has("no-navigation")) Object.defineProperty(window, "navigation", { value: undefined });

for (const name of [
  "ready",
  "open",
  "close",
  "state",
  "message",
  "step",
  "before-tool",
  "tool-result",
  "done",
  "error",
  "unread",
  "thread",
  "visitor",
  "resumed",
  "person",
  "link",
]) {
  document.addEventListener(`chat-agent:${name}`, (event) => {
    window.events.push([name, event.detail]);
    if (name === "before-tool" && query.has("decline")) event.preventDefault();
  });
}
