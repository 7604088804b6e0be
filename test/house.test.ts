import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

/**
 * The house's own rules: what may import what. The layers stand from the ground up; a file imports from its own layer
 * and from those below it, so nothing imports upward. Only the wiring, at the top, names an implementation of a contract.
 */
const LAYERS: { name: string; holds: string[] }[] = [
  { name: "the ground", holds: ["machines/"] },
  { name: "records and rules", holds: ["src/domain/"] },
  {
    name: "basics",
    holds: ["src/clock.ts", "src/secret.ts", "src/errors.ts", "src/config.ts", "src/log.ts"],
  },
  {
    name: "contracts",
    holds: ["src/store.ts", "src/store/", "src/model.ts", "src/agent.ts", "src/listener.ts"],
  },
  {
    name: "implementations, and what the actors and HTTP are made of",
    holds: [
      "src/stores/",
      "src/models/",
      "src/listeners/",
      "src/agent/",
      "src/actors/",
      "src/admission/",
      "src/inspector/",
    ],
  },
  { name: "HTTP", holds: ["src/http/"] },
  { name: "the demo", holds: ["src/demo/"] },
  { name: "the installation", holds: ["src/installation/"] },
  { name: "the wiring", holds: ["src/start/", "src/metrics/", "src/service.ts"] },
  { name: "the process", holds: ["src/main.ts"] },
  { name: "the command line", holds: ["src/cli/"] },
  { name: "the widget's words and styles", holds: ["src/widget/strings/", "src/widget/styles/"] },
  { name: "the widget's service", holds: ["src/widget/service/"] },
  { name: "the widget's tools and view", holds: ["src/widget/tools/", "src/widget/view/"] },
  { name: "the widget's runs", holds: ["src/widget/run/"] },
  { name: "the widget's element", holds: ["src/widget/"] },
];

/** Rooms side by side in one layer that do not know each other. */
const STRANGERS: [string, string[]][] = [
  ["src/stores/", ["src/models/", "src/listeners/", "src/agent/", "src/actors/", "src/admission/"]],
  ["src/models/", ["src/stores/", "src/listeners/", "src/agent/", "src/actors/", "src/admission/"]],
  ["src/listeners/", ["src/stores/", "src/models/", "src/agent/", "src/actors/", "src/admission/"]],
  ["src/agent/", ["src/stores/", "src/models/", "src/listeners/", "src/actors/", "src/admission/"]],
  ["src/actors/", ["src/stores/", "src/models/", "src/listeners/", "src/agent/"]],
  ["src/admission/", ["src/stores/", "src/models/", "src/listeners/", "src/agent/", "src/actors/"]],
  ["src/http/", ["src/stores/", "src/models/", "src/listeners/", "src/agent/"]],
  // Commands other than `serve` work beside a running service, and load none of its start.
  ["src/cli/", ["src/start/", "src/service.ts"]],
  ["src/widget/view/", ["src/widget/tools/", "src/widget/service/"]],
  ["src/widget/tools/", ["src/widget/view/", "src/widget/strings/"]],
];

/** Code of a browser, each a bundle of its own, and all that it takes from outside its folder. */
const BUNDLES: [string, string[]][] = [
  ["src/widget/", ["machines/line.ts", "preact", "marked"]],
  ["src/demo/shop/", ["machines/line.ts", "src/demo/products.ts"]],
  [
    "src/inspector/page/",
    [
      "machines/line.ts",
      "machines/draw/outline.ts",
      "src/domain/message.ts",
      "src/inspector/views.ts",
      "preact",
      "preact/hooks",
    ],
  ],
];

/** Build scripts run before there is a service. */
const ELSEWHERE = ["src/widget/build.mjs", "src/inspector/build.mjs", "src/build.mjs", "src/demo/build.mjs"];

const root = fileURLToPath(new URL("..", import.meta.url));
const files = ["machines", "src"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  )
  .filter((file) => /\.(tsx?|mjs)$/.test(file) && !file.endsWith(".d.ts"))
  .filter((file) => !ELSEWHERE.some((place) => file.startsWith(place)));

const source = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));

interface Import {
  from: string;
  /** A file of the house by its path from the root, or a package's name. */
  to: string;
  /** Loaded with the file, and not only when it is used. */
  eager: boolean;
  typeOnly: boolean;
}

const imports = files.flatMap(importsOf);

function importsOf(file: string): Import[] {
  const text = source.get(file) ?? "";
  const statements = [
    ...text.matchAll(/^import\s+(type\s)?(?:[^;"']*?\sfrom\s+)?["']([^"']+)["']/gm),
    ...text.matchAll(/^export\s+(type\s)?[*{][^;"']*?\sfrom\s+["']([^"']+)["']/gm),
  ];
  const calls = text.matchAll(/\bimport\(\s*["']([^"']+)["']\s*\)/g);
  return [
    ...statements.map((match) => found(match[2] ?? "", true, match[1] !== undefined)),
    ...[...calls].map((match) => found(match[1] ?? "", false, false)),
  ];

  function found(specifier: string, eager: boolean, typeOnly: boolean): Import {
    const to = specifier.startsWith(".") ? relative(root, join(root, dirname(file), specifier)) : specifier;
    return { from: file, to, eager, typeOnly };
  }
}

/** -1 for what is no part of the house. */
function layerOf(file: string): number {
  return LAYERS.findIndex(({ holds }) => holds.some((place) => file.startsWith(place)));
}

function told({ from, to }: Import): string {
  return `${from} imports ${to}`;
}

describe("the house", () => {
  test("finds the imports that it judges", () => {
    expect(files.length).toBeGreaterThan(30);
    expect(imports.length).toBeGreaterThan(files.length);
    expect(imports.map(told)).toContain("src/store/channels.ts imports src/domain/channel.ts");
    expect(imports.map(told)).toContain("src/installation/open-store.ts imports src/stores/embedded.ts");
  });

  test("gives every file a layer", () => {
    expect(files.filter((file) => layerOf(file) === -1)).toEqual([]);
  });

  test("lets nothing import upward", () => {
    const upward = imports.filter(({ from, to }) => layerOf(to) > layerOf(from));
    expect(upward.map(told)).toEqual([]);
  });

  test("keeps strangers apart", () => {
    const met = imports.filter(({ from, to }) =>
      STRANGERS.some(
        ([room, others]) => from.startsWith(room) && others.some((other) => to.startsWith(other)),
      ),
    );
    expect(met.map(told)).toEqual([]);
  });

  test("has no import circles", () => {
    const next = new Map(
      files.map((file) => [
        file,
        imports.filter((one) => one.from === file && source.has(one.to)).map((one) => one.to),
      ]),
    );
    const circles: string[] = [];
    const finished = new Set<string>();
    const walk = (file: string, path: string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" → "));
      if (finished.has(file) || path.includes(file)) return;
      for (const to of next.get(file) ?? []) walk(to, [...path, file]);
      finished.add(file);
    };
    for (const file of files) walk(file, []);
    expect(circles).toEqual([]);
  });

  test("resolves every import of a file to a file", () => {
    const lost = imports.filter(
      ({ to }) => /^(src|machines)\//.test(to) && layerOf(to) !== -1 && !existsSync(join(root, to)),
    );
    expect(lost.map(told)).toEqual([]);
  });

  test.each(BUNDLES)("keeps %s to itself, but for what it names", (bundle, taken) => {
    const crossing = imports.filter(
      ({ from, to }) => from.startsWith(bundle) !== to.startsWith(bundle) && !taken.includes(to),
    );
    expect(crossing.map(told)).toEqual([]);
  });

  test("keeps machines/ to xstate and siblings", () => {
    const strange = imports.filter(
      ({ from, to }) =>
        from.startsWith("machines/") &&
        !to.startsWith("machines/") &&
        !["xstate", "xstate/graph"].includes(to),
    );
    expect(strange.map(told)).toEqual([]);
  });

  test.each([
    ["uWebSockets.js", ["src/listeners/uws"]],
    ["lmdb", ["src/stores/"]],
    ["redis", ["src/stores/"]],
    ["openai", ["src/models/"]],
    ["@modelcontextprotocol/sdk", ["src/agent/", "src/demo/"]],
  ])("lets only its implementation know %s", (name, implementations) => {
    const users = imports.filter(({ to }) => to === name || to.startsWith(`${name}/`));
    expect(
      users.filter(({ from }) => !implementations.some((place) => from.startsWith(place))).map(told),
    ).toEqual([]);
  });

  test("loads a store, MCP and Swagger only when they are used", () => {
    const heavy = [
      "src/stores/embedded.ts",
      "src/stores/redis.ts",
      "swagger-ui-dist",
      "pino-pretty",
      "prom-client",
    ];
    const eager = imports.filter(
      ({ from, to, eager, typeOnly }) =>
        eager && !typeOnly && heavy.includes(to) && !from.startsWith("src/stores/"),
    );
    expect(eager.map(told)).toEqual([]);
  });

  test("reads process.env in src/config.ts alone", () => {
    const readers = files.filter((file) =>
      /process\s*\.\s*env|\benv\b[^\n]*from "node:process"/.test(source.get(file) ?? ""),
    );
    // Its comments speak of it too.
    expect(readers).toEqual(["src/config.ts"]);
  });
});
