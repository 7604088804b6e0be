// For README.md, test/support/house/house.ts
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { aboutFile } from "./support/house/about.ts";
import { BUNDLES, CONSOLE, PACKAGES, SERVICE, STRANGERS, WIDGET } from "./support/house/house.ts";
import { answersOfTests, root, testsOf } from "./support/house/answers.ts";
import { drawHouse } from "./support/house/draw-house.ts";
import { importsOf, sourcesOfHouse } from "./support/house/imports.ts";
import type { Import } from "./support/house/imports.ts";
import { mapIn, mapOfHouse, placesOfHouse } from "./support/house/house-map.ts";

/** The house's own rules: what may import what (support/house.ts), and that README's map says so. */
const LAYERS = [...SERVICE, ...WIDGET, ...CONSOLE];

const source = sourcesOfHouse();
const all = [...source.keys()];
/** Without the declarations that are published: only the test of circles judges those. */
const files = all.filter((file) => !file.endsWith(".d.ts"));
const imports = files.flatMap((file) => importsOf(file, source.get(file) ?? ""));

/** -1 for what is no part of the house. */
function layerOf(file: string): number {
  return LAYERS.findIndex(({ places }) => places.some(({ path }) => file.startsWith(path)));
}

function shown({ from, to }: Import): string {
  return `${from} imports ${to}`;
}

describe("the house", () => {
  test("finds the imports that it judges", () => {
    expect(files.length).toBeGreaterThan(30);
    expect(imports.length).toBeGreaterThan(files.length);
    expect(imports.map(shown)).toContain("src/store/channels.ts imports src/domain/channels/channel.ts");
    expect(imports.map(shown)).toContain("src/installation/open-store.ts imports src/stores/embedded.ts");
  });

  test("gives every file a layer", () => {
    expect(files.filter((file) => layerOf(file) === -1)).toEqual([]);
  });

  test("lets nothing import upward", () => {
    const upward = imports.filter(({ from, to }) => layerOf(to) > layerOf(from));
    expect(upward.map(shown)).toEqual([]);
  });

  test("lets nothing import what stands higher in README's map", () => {
    const rows = SERVICE.toReversed().flatMap(({ places }) => places.map(({ path }) => path));
    // A file and the folder of its name are one row: src/store.ts, src/store/.
    const nameOf = (path: string | undefined) => path?.replace(/(\.ts|\/)$/, "");
    const rowOf = (file: string) => {
      const name = nameOf(rows.find((path) => file.startsWith(path)));
      return rows.findIndex((path) => nameOf(path) === name);
    };
    const upward = imports.filter(({ from, to }) => rowOf(to) !== -1 && rowOf(to) < rowOf(from));
    expect(upward.map(shown)).toEqual([]);
  });

  test("keeps strangers apart", () => {
    const met = imports.filter(({ from, to }) =>
      STRANGERS.some(
        ([room, others]) => from.startsWith(room) && others.some((other) => to.startsWith(other)),
      ),
    );
    expect(met.map(shown)).toEqual([]);
  });

  test("has no import circles", () => {
    // Of a declaration another one's name may end in .js, as in the package.
    const fileOf = (to: string) => (source.has(to) ? to : to.replace(/\.js$/, ".d.ts"));
    const next = new Map(
      all.map((file) => [
        file,
        importsOf(file, source.get(file) ?? "")
          .map(({ to }) => fileOf(to))
          .filter((to) => source.has(to)),
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
    for (const file of all) walk(file, []);
    expect(circles).toEqual([]);
  });

  test("resolves every import of a file to a file", () => {
    const lost = imports.filter(
      ({ to }) => /^(src|machines)\//.test(to) && layerOf(to) !== -1 && !existsSync(join(root, to)),
    );
    expect(lost.map(shown)).toEqual([]);
  });

  test.each(BUNDLES)(
    "keeps $path to itself, but for what it takes and gives",
    ({ path, takes, gives = [] }) => {
      const crossing = imports.filter(
        ({ from, to }) =>
          from.startsWith(path) !== to.startsWith(path) && !takes.includes(to) && !gives.includes(to),
      );
      expect(crossing.map(shown)).toEqual([]);
    },
  );

  test("keeps machines/ to xstate, siblings, and the types of lines", () => {
    const strange = imports.filter(
      ({ from, to, typeOnly }) =>
        from.startsWith("machines/") &&
        !to.startsWith("machines/") &&
        !["xstate", "xstate/graph"].includes(to) &&
        !(typeOnly && to === "src/protocol/lines.ts"),
    );
    expect(strange.map(shown)).toEqual([]);
  });

  test("gives browsers the protocol's types and small checks, and none of zod", () => {
    const loaded = imports.filter(
      ({ from, to, typeOnly }) =>
        !typeOnly &&
        ((to.startsWith("src/protocol/") && to !== "src/protocol/fits.ts") || to === "zod") &&
        [...BUNDLES.map(({ path }) => path), "src/client/"].some((path) => from.startsWith(path)),
    );
    expect(loaded.map(shown)).toEqual([]);
  });

  test.each(PACKAGES)("lets only its implementation know %s", (name, implementations) => {
    const users = imports.filter(({ to }) => to === name || to.startsWith(`${name}/`));
    expect(
      users.filter(({ from }) => !implementations.some((place) => from.startsWith(place))).map(shown),
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
    expect(eager.map(shown)).toEqual([]);
  });

  test("reads process.env in src/config.ts alone", () => {
    const readers = files.filter((file) =>
      /process\s*\.\s*env|\benv\b[^\n]*from "node:process"/.test(source.get(file) ?? ""),
    );
    // Its comments speak of it too.
    expect(readers).toEqual(["src/config.ts"]);
  });

  test("says of every folder in one sentence what it is for, and of none that is not there", () => {
    const folders = ["machines", "src"].flatMap((folder) => [
      `${folder}/`,
      ...readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ parentPath, name }) => `${relative(root, join(parentPath, name))}/`),
    ]);
    const places = placesOfHouse().map(({ path }) => path);
    // Its places have a sentence each.
    expect(folders.filter((folder) => folder !== "src/" && !places.includes(folder))).toEqual([]);
    expect(places.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(new Set(places).size).toBe(places.length);
  });

  test("is what README's map shows (`npm run map` writes it anew)", () => {
    expect(mapIn(readFileSync(join(root, "README.md"), "utf8"))).toBe(mapOfHouse());
  });

  test("is what README's picture shows (`npm run map` draws it anew)", async () => {
    expect(readFileSync(join(root, "src/house.svg"), "utf8")).toBe(await drawHouse());
  });
});

describe("the tests", () => {
  const answers = answersOfTests();

  test("name in their first line what they answer for, and it is there", () => {
    expect([...answers].filter(([, places]) => places.length === 0).map(([file]) => file)).toEqual([]);
    const lost = [...answers].flatMap(([file, places]) =>
      places.filter((place) => !existsSync(join(root, place))).map((place) => `${file} names ${place}`),
    );
    expect(lost).toEqual([]);
  });

  test("leave no file without one", () => {
    // A test of all files' names or letters answers for none of them.
    const near = new Map(
      [...answers].map(([file, places]) => [file, places.filter((place) => !/^\w+\/$/.test(place))]),
    );
    expect(files.filter((file) => testsOf(file, near).length === 0)).toEqual([]);
  });

  test("are found with the rooms and the promises of a file (`npm run about`)", () => {
    const { rooms, tests, promises } = aboutFile("src/threads/recover/silence.ts");
    expect(rooms.map((room) => room.split("  ")[0])).toEqual(["src/threads/", "src/threads/recover/"]);
    expect(tests).toContain("test/threads/recover/silence.test.ts");
    expect(tests).not.toContain("test/names.test.ts");
    expect(promises.join("\n")).toMatch(/^P9 A dead process's runs are taken up/m);
  });

  test("and with a chart's invariants, which count for nothing else", () => {
    expect(aboutFile("machines/thread.ts").promises.join("\n")).toMatch(/^T16 Several calls/m);
    expect(aboutFile("src/config.ts").promises.filter((promise) => !promise.startsWith("P"))).toEqual([]);
  });
});
