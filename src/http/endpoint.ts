import { z } from "zod";
import type { RateWindowName } from "../admission/rate-windows.ts";
import type { AdmittedVisitor } from "../admission/widget-admission.ts";
import type { ThreadReading } from "../threads/threads.ts";
import type { Channel } from "../domain/channels/channel.ts";
import type { Operator, OperatorRole } from "../domain/people/operator.ts";
import type { RefusalReason } from "../domain/refusal.ts";
import type { User } from "../domain/people/user.ts";
import type { HttpAnswer, HttpRequest } from "../listener.ts";
import type { Acting } from "../operators/acting.ts";
import type { Store, ThreadRecord } from "../store.ts";
import type { Reading } from "./reading.ts";
import type { AnswerDocumentation, Field, Method, RouteRequest } from "./route.ts";

/**
 * One endpoint of an API, said once: who may ask, what is read, what is answered. From it follow the checks and their order
 * (admit.ts of each API), and the documentation with its refusals (reference/documentation.ts). `handle` gets what is
 * parsed and admitted. It is compiled when the service starts (endpoint-route.ts); a request reads no declaration.
 */
export interface Declaration<Who extends Credentials, Path extends string, Body, Query, Finds> {
  method: Method;
  path: Path;
  /** What the request must carry: it decides the API, and what `caller` is. `origin`: a web channel's page. */
  credential: Who;
  /** What must exist of what the request names, else 404; `handle` gets it under this name. */
  finds?: Finds;
  summary: string;
  description: string;
  /** Parameters of the path that are not of the API's common ones. */
  params?: Record<string, Field>;
  query?: Query;
  headers?: Record<string, Field>;
  /** Absent: a body is counted against the limit and ignored. */
  body?: DeclaredBody<Body>;
  /** By status; a text alone: an answer without a body. */
  answers: Record<number, AnswerDocumentation | string>;
  /** Why `handle` refuses, and words for what the declaration implies where its own say more. */
  refusals?: Partial<Record<RefusalReason, string>>;
  /** May throw a Refusal. */
  handle(asked: Asked<Who, Path, Body, Query, Finds>): Promise<HttpAnswer>;
}

/** What a visitor's request counts as (the spec, Limits): /messages and /tools together, and so on. */
export const RATES = {
  messages: ["messages-by-token", "messages-by-address"],
  toolResults: ["tool-results-by-token", "tool-results-by-address"],
  /** Each is megabytes in the store. */
  files: ["files-by-token", "files-by-address"],
  /** Each is a durable write, and may call a webhook. */
  ratings: ["ratings-by-token", "ratings-by-address"],
  threads: ["threads-by-token"],
  /** What writes nothing: lists, history, streams again. */
  reads: ["reads-by-token", "reads-by-address"],
  feeds: ["reads-by-token"],
} as const satisfies Record<string, readonly RateWindowName[]>;

export type Rate = keyof typeof RATES;

/** What further is declared, by the credential. */
export interface Further<Body> {
  operatorKey: {
    roles: readonly OperatorRole[];
    /** `installation`: operators who are limited to channels are refused. */
    scope?: "installation";
  };
  visitorToken: {
    /** What the request counts as; a function if that depends on the body (null: it could not be read). */
    rate: Rate | null | ((body: Body | null) => Rate);
    /** The runs that are needed of the thread's record, which is loaded in the tick of the admission. */
    loads?: ThreadReading | ((body: Body) => ThreadReading | null);
  };
}

export interface DeclaredBody<Body> {
  schema: z.ZodType<Body>;
  example: unknown;
  /** Throws a Refusal for what a schema cannot express. */
  check?: (body: Body) => void;
  /** A missing body counts as an empty object. */
  optional?: true;
  /** Reads a body that is no JSON, but a file; its limit is its own. */
  read?: (request: HttpRequest, mayBeLong: () => Promise<void>) => Promise<Reading<Body>>;
}

/** A parameter of the query. */
export interface QueryField<Value = unknown> {
  description: string;
  example: string | number;
  /** Of its text. Absent: any text, null if it is not given; so it is never refused. */
  schema?: z.ZodType<Value>;
  /** A request without it is refused; only documented. */
  required?: true;
  /** What is documented if that is another schema. */
  shown?: z.ZodType;
}

export type QueryFields = Readonly<Record<string, QueryField>>;

type Parsed<Query> = {
  [Name in keyof Query]: Query[Name] extends { schema: z.ZodType<infer Value> } ? Value : string | null;
};

/** By credential: who asks. */
interface Callers {
  transportKey: null;
  secretKey: Channel;
  operatorKey: Operator;
  publishableKey: Channel;
  visitorToken: AdmittedVisitor;
  origin: null;
  none: null;
}

export type Credentials = keyof Callers;

/** By credential: what an endpoint may find. */
export interface Found {
  transportKey: {
    /** The user is named in the query, the thread in the path. */
    user: { user: { slug: string; userId: string } };
    thread: { thread: NamedThread };
    /** The same, named in the body, and the user may talk (403). */
    speakersThread: { thread: NamedThread };
  };
  operatorKey: {
    channel: { channel: Channel };
    user: { user: User };
    thread: { thread: NamedThread };
  };
  visitorToken: {
    /** The visitor's, by the path. */
    thread: { thread: VisitorThread };
    /** The visitor's, by the body's `threadId`. */
    threadOfBody: { thread: VisitorThread };
  };
}

export interface NamedThread {
  slug: string;
  uid: string;
}

export interface VisitorThread {
  uid: string;
  /** Its record, loading; absent if it was not requested, or the name is not the thread's uid. */
  loading?: Promise<ThreadRecord | null>;
}

export type Finds<Who> = Who extends keyof Found ? keyof Found[Who] : never;

/** What `handle` gets. */
export type Asked<Who extends Credentials, Path extends string, Body, Query, Finds> = Omit<
  RouteRequest,
  "params"
> & {
  caller: Callers[Who];
  params: Record<ParamNames<Path>, string>;
  body: Body;
  query: Parsed<Query>;
} & (Who extends "operatorKey" ? { /** Writes in the operator's name. */ acting: Acting<Store> } : unknown) &
  ([Finds] extends [never]
    ? unknown
    : Who extends keyof Found
      ? Found[Who][Finds & keyof Found[Who]]
      : unknown);

type ParamNames<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never;

/** A declared endpoint, as it is compiled: what its types say of a request is known to its author alone. */
export interface Endpoint<Who extends Credentials = Credentials>
  extends
    Omit<Declaration<Who, string, unknown, QueryFields, string>, "handle">,
    Partial<Further<unknown>["operatorKey"]>,
    Partial<Further<unknown>["visitorToken"]> {
  handle(asked: object): Promise<HttpAnswer>;
}

export function endpoint<
  Who extends Credentials,
  Path extends string,
  Body = null,
  Query extends QueryFields = Record<never, never>,
  Sought extends Finds<Who> = never,
>(
  declaration: Declaration<Who, Path, Body, Query, Sought> &
    (Who extends keyof Further<Body> ? Further<Body>[Who] : unknown),
): Endpoint<Who> {
  // A cast: admit.ts of its API makes what `handle` is declared to get.
  return declaration as unknown as Endpoint<Who>;
}

/** The schemas of a parameter that may be absent: it is null then. */
export function ifGiven<Value>(schema: z.ZodType<Value>) {
  return { schema: schema.nullable().default(null), shown: schema };
}

const LIMIT_MAX = 100;

/** How many items a page has at most. */
export function limitField(usual: number, description = "How many at most") {
  return {
    description,
    schema: z
      .string()
      .regex(/^\d{1,3}$/)
      .transform(Number)
      .refine((limit) => limit >= 1 && limit <= LIMIT_MAX)
      .default(usual),
    shown: z.int().min(1).max(LIMIT_MAX).default(usual),
    example: usual,
  };
}
