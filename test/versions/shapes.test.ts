// For src/stores/records/, src/charts/stored-context.ts
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { THREAD_CHART_VERSION, threadMachine } from "../../machines/thread.ts";
import { VISITOR_CHART_VERSION, visitorMachine } from "../../machines/visitor.ts";
import { threadContext, visitorContext } from "../../src/charts/stored-context.ts";
import { deliveryKind } from "../../src/stores/deliveries.ts";
import { STORE_FORMAT } from "../../src/stores/format.ts";
import { sharedKinds } from "../../src/stores/records/records.ts";
import { HEADER, tables, TOKEN, USER } from "../../src/stores/tables.ts";

/** What is stored, in the shape of each of its versions: written down once, and compared with the code. */
const shapes = JSON.parse(readFileSync(new URL("shapes.json", import.meta.url), "utf8")) as Record<
  string,
  Record<string, string>
>;

interface Shape {
  name: string;
  version: number;
  form: string;
  /** Where a step to another version stands. */
  steps: string;
}

interface StateNode {
  states: Record<string, StateNode>;
}

function statesOf(node: StateNode): string {
  const names = Object.entries(node.states).map(([name, child]) =>
    Object.keys(child.states).length > 0 ? `${name} (${statesOf(child)})` : name,
  );
  return names.sort().join(", ");
}

function chartForm(machine: { root: StateNode }, context: z.ZodType): string {
  const { $schema: _, ...schema } = z.toJSONSchema(context, { unrepresentable: "any" });
  return `${statesOf(machine.root)}; ${JSON.stringify(schema)}`;
}

/** The names of keys and fields: those of each table, and the fields of the hashes that hold most. */
function layoutForm(): string {
  const keys = Object.values(tables).map(({ plane, name, holds }) => `${plane} ${name}: ${holds}`);
  const { renamed, ...token } = TOKEN;
  const fields = { header: HEADER, user: USER, token: { ...token, renamed: renamed("NAME") } };
  const named = Object.entries(fields).map(
    ([of, names]) => `${of}: ${Object.values<string>(names).sort().join(", ")}`,
  );
  return [keys.sort().join(", "), ...named].join("; ");
}

const present: Shape[] = [
  ...[...sharedKinds, deliveryKind].map(({ name, version, form }) => ({
    name,
    version,
    form,
    steps: "where its kind is made",
  })),
  { name: "layout", version: STORE_FORMAT, form: layoutForm(), steps: "in src/stores/format.ts" },
  {
    name: "thread chart",
    version: THREAD_CHART_VERSION,
    form: chartForm(threadMachine, threadContext),
    steps: "in machines/versions.ts",
  },
  {
    name: "visitor chart",
    version: VISITOR_CHART_VERSION,
    form: chartForm(visitorMachine, visitorContext),
    steps: "in machines/versions.ts",
  },
];

/** What the author of a change is to do about a shape that is not the one that is written down. */
function adviceOn({ name, version, steps }: Shape, known: string | undefined): string {
  if (known === undefined) {
    return `The shape of version ${version} is not written down: add it to test/versions/shapes.json`;
  }
  return `The ${name} has another shape, and the same version ${version}: add a step ${steps}, raise the version, and write the new shape down beside the old one in test/versions/shapes.json. Only where every older version may ignore what is new (an optional field) the shape of version ${version} is changed there`;
}

test.each(present)("$name: has the shape of its version", (shape) => {
  const known = shapes[shape.name]?.[shape.version];
  const advice = shape.form === known ? {} : { advice: adviceOn(shape, known) };
  expect({ shape: shape.form, ...advice }).toEqual({ shape: known });
});

test("every version of everything that is stored is written down", () => {
  const versions = Object.fromEntries(
    present.map(({ name, version }) => [name, Array.from({ length: version }, (_, i) => String(i + 1))]),
  );
  expect(
    Object.fromEntries(Object.entries(shapes).map(([name, known]) => [name, Object.keys(known)])),
  ).toEqual(versions);
});
