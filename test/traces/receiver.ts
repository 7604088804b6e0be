import definitions from "otlp-definitions/build/src/generated/root.js";
import { z } from "zod";
import { openHttpServer } from "../support/servers/http-server.ts";

/** A span as a collector gets it. */
export interface ReceivedSpan {
  name: string;
  /** SPAN_KIND_… without its beginning. */
  kind: string;
  traceId: string;
  spanId: string;
  /** "": a root. */
  parentSpanId: string;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  isError: boolean;
  startMs: number;
  endMs: number;
  /** Of the process that sent it. */
  resource: Record<string, unknown>;
}

/** An OTLP receiver on loopback, made of the official protobuf definitions: HTTP with protobuf, and with JSON. */
export interface Receiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  spans: ReceivedSpan[];
  /** All that came, as text: where a canary would be found. */
  bytes(): string;
  contentTypes: Set<string>;
  headers: Record<string, string | string[] | undefined>;
}

interface RequestType {
  decode(bytes: Uint8Array): object;
  toObject(request: object, options: object): unknown;
}

/** The generated file declares less than it has. */
const root = definitions as unknown as {
  opentelemetry: { proto: { collector: { trace: { v1: { ExportTraceServiceRequest: RequestType } } } } };
};
const Request = root.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;

export async function startReceiver(): Promise<Receiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  const contentTypes = new Set<string>();
  const receiver: Receiver = {
    url: "",
    spans,
    bytes: () => Buffer.concat(bodies).toString("utf8"),
    contentTypes,
    headers: {},
  };
  const origin = await openHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const type = request.headers["content-type"] ?? "";
      const body = Buffer.concat(chunks);
      bodies.push(body);
      contentTypes.add(type);
      receiver.headers = request.headers;
      if (request.url === "/v1/traces") spans.push(...spansOf(decoded(type, body)));
      response.writeHead(200, { "content-type": type }).end(type.includes("json") ? "{}" : "");
    });
  });
  receiver.url = origin;
  return receiver;
}

/** Ids in hexadecimal, as OTLP's JSON has them; protobuf's are bytes. */
function decoded(type: string, body: Buffer): Exported {
  if (type.includes("json")) return exported.parse(JSON.parse(body.toString()));
  const plain: unknown = Request.toObject(Request.decode(body), {
    longs: String,
    enums: String,
    bytes: Array,
    arrays: true,
    defaults: true,
  });
  return exported.parse(plain);
}

const id = z.union([
  z.string(),
  z.array(z.number()).transform((bytes) => Buffer.from(bytes).toString("hex")),
]);
const value = z.looseObject({
  stringValue: z.string().optional(),
  boolValue: z.boolean().optional(),
  intValue: z.union([z.string(), z.number()]).transform(Number).optional(),
  doubleValue: z.number().optional(),
  get arrayValue(): z.ZodOptional<z.ZodObject<{ values: z.ZodArray<typeof value> }>> {
    return z.object({ values: z.array(value) }).optional();
  },
});
const attributes = z.array(z.object({ key: z.string(), value })).default([]);
const KINDS = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"];
const ERROR_CODE = 2;
const span = z.object({
  name: z.string(),
  kind: z.union([
    z.string().transform((name) => name.replace("SPAN_KIND_", "")),
    z.number().transform((kind) => KINDS[kind] ?? ""),
  ]),
  traceId: id,
  spanId: id,
  parentSpanId: id.default(""),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  attributes,
  links: z.array(z.object({ traceId: id, spanId: id })).default([]),
  status: z
    .object({ code: z.union([z.string(), z.number()]).default(0) })
    .nullable()
    .default(null),
});
const exported = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes }),
      scopeSpans: z.array(z.object({ spans: z.array(span) })),
    }),
  ),
});
type Exported = z.infer<typeof exported>;

function spansOf({ resourceSpans }: Exported): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ startTimeUnixNano, endTimeUnixNano, status, attributes: told, ...rest }) => ({
        ...rest,
        attributes: plain(told),
        isError: status?.code === ERROR_CODE || status?.code === "STATUS_CODE_ERROR",
        startMs: Number(BigInt(startTimeUnixNano) / 1_000_000n),
        endMs: Number(BigInt(endTimeUnixNano) / 1_000_000n),
        resource: plain(resource.attributes),
      })),
    ),
  );
}

function plain(told: z.infer<typeof attributes>): Record<string, unknown> {
  return Object.fromEntries(told.map(({ key, value: one }) => [key, plainValue(one)]));
}

function plainValue(one: z.infer<typeof value>): unknown {
  if (one.arrayValue) return one.arrayValue.values.map(plainValue);
  return one.stringValue ?? one.intValue ?? one.doubleValue ?? one.boolValue;
}
