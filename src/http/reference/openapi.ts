import { documentedMap } from "../../domain/name-map.ts";
import { z } from "zod";
import type { AnswerDocumentation, Credential, Documentation, Field, Route } from "../route.ts";

/** The API's description, OpenAPI 3.1, made of what each route declares: requests are checked by the schemas shown. */
const SECURITY_SCHEMES: Record<Credential, object> = {
  transportKey: {
    type: "http",
    scheme: "bearer",
    description: "HARNESS_API_KEY, one for all transports; never in a page",
  },
  secretKey: {
    type: "http",
    scheme: "bearer",
    description: "The channel's secret key, sk_…; never in a page",
  },
  operatorKey: {
    type: "http",
    scheme: "bearer",
    description: "An operator's key, op_…; never in a customer's page",
  },
  publishableKey: {
    type: "apiKey",
    in: "header",
    name: "x-publishable-key",
    description: "The channel's public key, pk_…",
  },
  visitorToken: {
    type: "apiKey",
    in: "header",
    name: "x-visitor-token",
    description: "From POST /v1/widget/visitors",
  },
};

const TAGS = { server: "Server API", widget: "Widget API", operator: "Operators", open: "Open" } as const;

export function openApiDocument(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    if (route.documentation === "hidden") continue;
    const path = templated(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, route.documentation) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Chat Agent Service",
      version: "1",
      description:
        "A conversational agent for several channels: replies are streams of newline-delimited JSON.",
    },
    tags: Object.values(TAGS).map((name) => ({ name })),
    paths,
    components: { securitySchemes: SECURITY_SCHEMES },
  };
}

function operation(route: Route, documentation: Documentation): object {
  const fields = [
    ...parameters(parametersOf(route.path, documentation), "path"),
    ...parameters(documentation.query, "query"),
    ...parameters(documentation.headers, "header"),
  ];
  return {
    operationId: operationId(route),
    tags: [TAGS[route.api]],
    summary: documentation.summary,
    description: documentation.description,
    security: documentation.credential === null ? [] : [{ [documentation.credential]: [] }],
    ...(fields.length > 0 ? { parameters: fields } : {}),
    ...(documentation.body
      ? {
          requestBody: {
            required: true,
            content: documentation.body.isFile
              ? FILE_CONTENT
              : {
                  "application/json": {
                    schema: jsonSchema(documentation.body.schema, "input"),
                    example: documentation.body.example,
                  },
                },
          },
        }
      : {}),
    responses: Object.fromEntries(
      Object.entries(documentation.answers).map(([status, answer]) => [status, response(answer)]),
    ),
  };
}

/** A file: itself, or in a form. */
const FILE_CONTENT = {
  "multipart/form-data": {
    schema: {
      type: "object",
      properties: { file: { type: "string", format: "binary" } },
      required: ["file"],
    },
  },
  "application/octet-stream": { schema: { type: "string", format: "binary" } },
};

/** What a generated client calls it: `postWidgetMessages`, `getThreadsByThreadIdStream`. Of method and path alone, so that it stays. */
function operationId({ method, path }: Route): string {
  const segments = templated(path)
    .split("/")
    .filter((segment) => segment !== "" && segment !== "v1");
  const words = segments.flatMap((segment) =>
    segment.startsWith("{") ? ["by", segment.slice(1, -1)] : segment.split(/[.-]/),
  );
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** OpenAPI wants a name for what `*` stands for. */
function parametersOf(path: string, documentation: Documentation): Record<string, Field> {
  if (!path.endsWith("/*")) return documentation.params;
  return { path: { description: "Any path below", schema: z.string(), required: true, example: "messages" } };
}

function templated(path: string): string {
  return path.replace(/:(\w+)/g, "{$1}").replace(/\*$/, "{path}");
}

function parameters(fields: Record<string, Field>, place: "path" | "query" | "header"): object[] {
  return Object.entries(fields).map(([name, { description, schema, required, example }]) => ({
    name,
    in: place,
    description,
    required,
    schema: jsonSchema(schema, "input"),
    example,
  }));
}

function response({ description, headers, body }: AnswerDocumentation): object {
  const described = Object.entries(headers).map(([name, text]) => [
    name,
    { description: text, schema: { type: "string" } },
  ]);
  return {
    description,
    ...(described.length > 0 ? { headers: Object.fromEntries(described) } : {}),
    ...(body
      ? { content: { [body.type]: { schema: jsonSchema(body.schema, "output"), example: body.example } } }
      : {}),
  };
}

function jsonSchema(schema: z.ZodType, io: "input" | "output"): object {
  const { $schema: _draft, ...rest } = z.toJSONSchema(schema, {
    io,
    target: "draft-2020-12",
    unrepresentable: documentedMap,
  });
  return rest;
}
