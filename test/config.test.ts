// For src/config.ts, src/config/
import { availableParallelism } from "node:os";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { readConfig, readVariable, secretsOf, SETTINGS } from "../src/config.ts";
import { ConfigError } from "../src/config/config-error.ts";
import { unknownNamesOf, warningsOf } from "../src/config/warnings.ts";

/** What readConfig() says to an environment that it refuses. */
function refusal(env: NodeJS.ProcessEnv): string {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error(`Cannot get a refusal: ${inspect(env)} was accepted`);
}

describe("readConfig()", () => {
  test("traces are off without a collector, and where OpenTelemetry's own variables say so", () => {
    const on = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };
    const defaults = { protocol: "http/protobuf", capturesContent: false, maxQueueSize: 2_048 };
    expect(readConfig(on).tracing).toEqual(defaults);
    expect(readConfig({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c/t" }).tracing).toEqual(defaults);
    const content = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
    const json = { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json", [content]: "True" };
    expect(readConfig({ ...on, ...json }).tracing).toMatchObject({
      protocol: "http/json",
      capturesContent: true,
    });
    expect(readConfig({ ...on, OTEL_SDK_DISABLED: "true" }).tracing).toBeNull();
    expect(readConfig({ ...on, OTEL_TRACES_EXPORTER: "none" }).tracing).toBeNull();
    expect(() => readConfig({ ...on, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toThrow(
      'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc", it takes one of http/protobuf, http/json',
    );
  });

  test("without any variable takes the defaults of the contract", () => {
    expect(readConfig({})).toEqual({
      host: "127.0.0.1",
      port: 8080,
      processes: null,
      demo: true,
      isDemoHeldBack: false,
      demoPort: null,
      harnessApiKey: null,
      olderApiKeys: [],
      logAddresses: true,
      redisUrls: [],
      dataDir: "./data",
      files: { place: null, maxBytes: 4_194_304 },
      contentKeys: null,
      channelsFile: null,
      providersFile: null,
      openai: { apiKey: null, baseUrl: null, model: "gpt-5-mini", api: null },
      isModelKeyEmpty: false,
      isDemoModel: false,
      modelTimeoutMs: 60_000,
      runTimeoutMs: 300_000,
      runMaxToolCalls: 50,
      toolResultTimeoutMs: 600_000,
      runMaxReplyChars: 10_000_000,
      threadQueueMax: 8,
      agentMaxInputTokens: 32_000,
      maxTokensPerDay: null,
      addressMaxTokensPerDay: null,
      durability: "local",
      listener: null,
      maxHeadBytes: 16_384,
      keepAliveMs: 75_000,
      console: true,
      openId: null,
      swagger: true,
      tracing: null,
      metricsPort: null,
      webhooksPrivate: false,
      mcpPrivate: false,
      messengers: "on",
      knowledgePrivate: false,
      publicUrl: null,
      limits: {
        maxTextChars: 2_000,
        maxCatalogChars: 20_000,
        maxBodyBytes: 131_072,
        messagesPerMinute: 10,
        ipMessagesPerMinute: 30,
        toolResultsPerMinute: 120,
        ipToolResultsPerMinute: 600,
        filesPerHour: 40,
        ipFilesPerHour: 120,
        ratingsPerMinute: 20,
        ipRatingsPerMinute: 100,
        threadsPerHour: 30,
        visitorsPerHourPerIp: 20,
        readsPerMinute: 1_200,
        ipReadsPerMinute: 6_000,
        networkFactor: 10,
      },
      visitorTtlMs: 86_400_000,
      visitorMaxAgeMs: null,
      serverMaxBodyBytes: 1_048_576,
      clientIpSource: "socket",
      trustedProxyHops: 1,
      shutdownGraceMs: 30_000,
      logLevel: "info",
    });
  });

  test("counts an empty variable as unset", () => {
    expect(readConfig({ PORT: "", REDIS_URL: "", LISTENER: "" })).toEqual(readConfig({}));
  });

  test("refuses an empty HARNESS_API_KEY", () => {
    expect(refusal({ HARNESS_API_KEY: "" })).toBe(
      "Cannot read the configuration: HARNESS_API_KEY is empty, it takes one or more printable ASCII characters without commas; a space separates keys",
    );
    expect(refusal({ HARNESS_API_KEY: "a,b" })).toContain("HARNESS_API_KEY");
    expect(readConfig({ OPENAI_API_KEY: "a,b" }).openai.apiKey?.reveal()).toBe("a,b");
  });

  const counts = [
    "RUN_MAX_TOOL_CALLS",
    "RUN_MAX_REPLY_CHARS",
    "AGENT_MAX_INPUT_TOKENS",
    "MODEL_TIMEOUT_SECONDS",
    "RUN_TIMEOUT_SECONDS",
    "TOOL_RESULT_TIMEOUT_SECONDS",
    "WIDGET_MAX_TEXT_CHARS",
    "WIDGET_MAX_WEBMCP_TOOLS_CHARS",
    "WIDGET_MAX_BODY_BYTES",
    "WIDGET_MESSAGES_PER_MINUTE",
    "WIDGET_IP_MESSAGES_PER_MINUTE",
    "WIDGET_TOOL_RESULTS_PER_MINUTE",
    "WIDGET_IP_TOOL_RESULTS_PER_MINUTE",
    "WIDGET_FILES_PER_HOUR",
    "WIDGET_IP_FILES_PER_HOUR",
    "WIDGET_RATINGS_PER_MINUTE",
    "WIDGET_IP_RATINGS_PER_MINUTE",
    "WIDGET_THREADS_PER_HOUR",
    "WIDGET_VISITORS_PER_HOUR_PER_IP",
    "WIDGET_READS_PER_MINUTE",
    "WIDGET_IP_READS_PER_MINUTE",
    "WIDGET_VISITOR_TTL_SECONDS",
    "SERVER_MAX_BODY_BYTES",
    "TRUSTED_PROXY_HOPS",
    "KEEP_ALIVE_SECONDS",
    "METRICS_PORT",
    "DEMO_PORT",
  ];
  test.each(counts)("refuses %s that is 0, negative, no number or too large", (name) => {
    for (const value of ["0", "-1", "abc", "1e9", "1.5", " 5", "99999999999"]) {
      expect(refusal({ [name]: value })).toMatch(
        new RegExp(`${name} is "${value}", it takes a whole number from 1 to \\d+$`),
      );
    }
    expect(() => readConfig({ [name]: "1" })).not.toThrow();
  });

  test.each(["PORT", "THREAD_QUEUE_MAX", "SHUTDOWN_GRACE_SECONDS"])("takes 0 for %s", (name) => {
    expect(() => readConfig({ [name]: "0" })).not.toThrow();
    expect(refusal({ [name]: "-1" })).toContain(name);
  });

  test.each([
    ["PORT", "65536"],
    ["LOG_LEVEL", "loud"],
    ["LISTENER", "express"],
    ["OPENAI_API", "batch"],
    ["DURABILITY", "forever"],
    ["CONSOLE", "yes"],
    ["SWAGGER", "yes"],
    ["DEMO", "yes"],
    ["MCP_PRIVATE", "yes"],
    ["MESSENGERS", "yes"],
    ["CLIENT_IP_SOURCE", "x forwarded for"],
  ])("refuses %s=%s and says what it takes", (name, value) => {
    expect(refusal({ [name]: value })).toMatch(new RegExp(`${name} is "${value}", it takes .+`));
  });

  test.each([
    [{}, true],
    [{ HOST: "localhost" }, true],
    [{ HOST: "::1" }, true],
    [{ HOST: "0.0.0.0" }, false],
    [{ HOST: "192.0.2.7" }, false],
    [{ HOST: "127.example" }, false],
    [{ CHANNELS_FILE: "channels.json" }, false],
    [{ DEMO: "off" }, false],
    [{ DEMO: "on", HOST: "0.0.0.0", CHANNELS_FILE: "channels.json" }, true],
  ])("the demo is for this machine, unless it is wanted elsewhere: %o", (env, isOn) => {
    expect(readConfig(env).demo).toBe(isOn);
  });

  test("takes one place of files, and a bucket only with its keys", () => {
    const keys = { FILES_ACCESS_KEY_ID: "id", FILES_SECRET_ACCESS_KEY: "a-secret" };
    expect(readConfig({ FILES_DIR: "/srv/files" }).files).toEqual({
      place: { folder: "/srv/files" },
      maxBytes: 20_971_520,
    });
    const bucket = { FILES_URL: "https://s3.example/bucket/folder", FILES_MAX_BYTES: "5", ...keys };
    const { place, maxBytes } = readConfig(bucket).files;
    expect([maxBytes, place]).toMatchObject([5, { bucket: bucket.FILES_URL, region: "us-east-1" }]);
    expect(refusal({ FILES_DIR: "/a", ...bucket })).toContain("FILES_DIR and FILES_URL are both set");
    for (const wrong of [{ FILES_URL: bucket.FILES_URL }, { ...keys, FILES_URL: "https://s3.example/" }])
      expect(refusal(wrong)).toContain("it takes https://HOST/BUCKET, FILES_ACCESS_KEY_ID");
    expect(refusal({ ...bucket, FILES_MAX_BYTES: "-1" })).toContain("FILES_MAX_BYTES");
  });

  test("takes keys of CONTENT_KEYS, the first of which encrypts, or none after off", () => {
    const key = Buffer.alloc(32, 7).toString("base64");
    const read = (text: string) => {
      const { seals, keys = [] } = readConfig({ CONTENT_KEYS: text }).contentKeys ?? {};
      return { seals, keys: keys.map(({ id, key: secret }) => [id, secret.reveal()]) };
    };
    expect(read(`k2:${key}, k1:${key}`)).toEqual({
      seals: true,
      keys: [
        ["k2", key],
        ["k1", key],
      ],
    });
    expect(read(`off,k1:${key}`)).toEqual({ seals: false, keys: [["k1", key]] });
    for (const [wrong, takes] of [
      ["k1", "it takes ID:KEY"],
      ["off", "it takes ID:KEY"],
      [`k 1:${key}`, "it takes ID:KEY"],
      [`k1:${key},k1:${key}`, "it takes each ID once"],
      ["k1:c2hvcnQ=", "it takes 32 bytes in base64 as the KEY of k1"],
      [`k1:${key},k2:${key.replace("B", "-")}`, "it takes 32 bytes in base64 as the KEY of k2"],
      [`k1:${Buffer.alloc(33, 7).toString("base64")}`, "it takes 32 bytes in base64 as the KEY of k1"],
    ] as const) {
      const line = refusal({ CONTENT_KEYS: wrong });
      expect(line).toContain(`CONTENT_KEYS is not usable (its value is not shown), ${takes}`);
    }
  });

  test.each(["redis+sentinel://a:26379/mymaster", "sentinel://a", "redis://a:1,redis-sentinel://b"])(
    "N5: refuses %s, and says what leads to the primary",
    (url) =>
      expect(refusal({ REDIS_URL: url })).toContain("Sentinel is not asked for the primary: name an address"),
  );

  test("H2: warns of names that nothing reads and somebody may have meant", () => {
    const warned = (env: Record<string, string>, read: string[] = []) =>
      unknownNamesOf(env, (name) => read.includes(name));
    const says = (name: string, meant: string) =>
      `${name} is set, and is no setting of this service: it does nothing; did you mean ${meant}?`;
    for (const [name, meant] of [
      ["OPEN_API_KEY", "OPENAI_API_KEY"],
      ["OPENAI_APIKEY", "OPENAI_API_KEY"],
      ["OPENAI_MODLE", "OPENAI_MODEL"],
      ["RATE_LIMIT", "WIDGET_MESSAGES_PER_MINUTE"],
      ["CHANNEL_FILE", "CHANNELS_FILE"],
      ["REDIS_URI", "REDIS_URL"],
      ["UWS_HTTP_MAX_HEADERS_SIZE", "MAX_HEAD_BYTES"],
      ["WIDGET_MAX_TEXT_CHAR", "WIDGET_MAX_TEXT_CHARS"],
    ] as const) {
      expect(warned({ [name]: "x" })).toEqual([says(name, meant)]);
      // The right one is there too: the other is of another program, or a leftover, and told without a guess.
      if (!name.startsWith("WIDGET")) continue;
      expect(warned({ [name]: "x", [meant]: "1" })[0]).toMatch(/it does nothing$/);
    }
    expect(warned({ WIDGET_COLOUR: "red" })[0]).toMatch(/it does nothing$/);
    // Ours, those of a shell, of Kubernetes and of other programs, and one that a file names.
    const others =
      "PATH HOME HOST LANG PWD NODE_ENV POST_URL REDIS_PORT REDIS_SERVICE_HOST OPENAI_API_KEY_2 OPENAI_ORG_ID";
    const env = Object.fromEntries([...SETTINGS, ...others.split(" ")].map((name) => [name, "x"]));
    expect(warned(env)).toEqual([]);
    expect(warned({ OPENAI_APIKEY: "x" }, ["OPENAI_APIKEY"])).toEqual([]);
  });

  const openId = {
    OIDC_ISSUER: "https://login.example",
    OIDC_CLIENT_ID: "console",
    OIDC_ROLES_CLAIM: "roles",
  };

  test("takes what a sign-in by OpenID Connect needs together, and not in part", () => {
    expect(readConfig({}).openId).toBeNull();
    expect(readConfig(openId).openId).toMatchObject({ issuer: "https://login.example", clientSecret: null });
    expect(readConfig({ ...openId, OIDC_CLIENT_SECRET: "canary" }).openId?.clientSecret?.reveal()).toBe(
      "canary",
    );
    for (const [left, line] of [
      ["OIDC_ISSUER", "OIDC_CLIENT_ID is set, it takes OIDC_ISSUER beside it, unset here"],
      ["OIDC_CLIENT_ID", "OIDC_ISSUER is set, it takes OIDC_CLIENT_ID beside it, unset here"],
      ["OIDC_ROLES_CLAIM", "OIDC_ISSUER is set, it takes OIDC_ROLES_CLAIM beside it, unset here"],
    ] as const) {
      expect(refusal({ ...openId, [left]: "" })).toContain(line);
    }
    expect(refusal({ OIDC_CLIENT_SECRET: "canary" })).toMatch(
      /OIDC_CLIENT_SECRET is set, it takes OIDC_ISSUER and OIDC_CLIENT_ID and OIDC_ROLES_CLAIM beside it/,
    );
  });

  test.each([
    ["Shop admins=admin", [{ value: "Shop admins", role: "admin" }]],
    [
      " a b = c=agent:shop ,CN=Shop,OU=Groups=auditor,",
      [
        { value: "a b = c", role: "agent:shop" },
        { value: "CN=Shop,OU=Groups", role: "auditor" },
      ],
    ],
  ])("takes OIDC_ROLES=%s", (text, roles) => {
    expect(readConfig({ ...openId, OIDC_ROLES: text }).openId?.roles).toEqual(roles);
  });

  test.each(["admin", "=admin", "x=boss", "x=admin y=agent", "x=admin,y", "x=agent:Shop!"])(
    "refuses OIDC_ROLES=%s",
    (text) => {
      expect(refusal({ ...openId, OIDC_ROLES: text })).toContain("it takes pairs value=role");
    },
  );

  test.each(["login.example", "ftp://login.example", "http://login.example", "https://login.example/?a=b"])(
    "refuses OIDC_ISSUER=%s: who answers there says who is an admin",
    (issuer) => {
      expect(refusal({ ...openId, OIDC_ISSUER: issuer })).toMatch(/OIDC_ISSUER is .*, it takes an https:/);
    },
  );

  test("takes a provider on this machine without TLS", () => {
    expect(() => readConfig({ ...openId, OIDC_ISSUER: "http://127.0.0.1:9000" })).not.toThrow();
  });

  test("names every variable that does not parse, in one line", () => {
    const line = refusal({ PORT: "x", LOG_LEVEL: "loud" });
    expect(line).toContain("PORT is");
    expect(line).toContain("LOG_LEVEL is");
    expect(line).not.toContain("\n");
  });

  test("P15: never repeats what a secret variable got", () => {
    for (const name of [
      "HARNESS_API_KEY",
      "OPENAI_API_KEY",
      "REDIS_URL",
      "OPENAI_BASE_URL",
      "OIDC_CLIENT_SECRET",
    ]) {
      const line = refusal({ [name]: "canary,with, commas" });
      expect(line).toContain(name);
      expect(line).not.toContain("canary");
    }
  });

  test("P15: holds secrets so that printing them shows nothing", () => {
    const config = readConfig({
      HARNESS_API_KEY: "canary-1",
      OPENAI_API_KEY: "canary-2",
      REDIS_URL: "redis://:canary-3@redis.example:6379",
    });
    for (const text of [
      JSON.stringify(config),
      inspect(config, { depth: 9 }),
      String(config.harnessApiKey),
    ]) {
      expect(text).not.toContain("canary");
      expect(text).toContain("[secret]");
    }
    expect(config.harnessApiKey?.reveal()).toBe("canary-1");
    expect(secretsOf(config).map((secret) => secret.reveal())).toEqual(["canary-1", "canary-2", "canary-3"]);
  });

  test("takes several seed nodes, separated by commas", () => {
    const { redisUrls } = readConfig({ REDIS_URL: "redis://a:1, rediss://b:2" });
    expect(redisUrls.map((url) => url.reveal())).toEqual(["redis://a:1", "rediss://b:2"]);
    expect(refusal({ REDIS_URL: "redis://a:1,http://b" })).toContain("redis:// or rediss:// addresses");
  });

  test("refuses an address whose password has a bare %, and does not show it", () => {
    const line = refusal({ REDIS_URL: "redis://:p%zz@host" });
    expect(line).toContain(
      "REDIS_URL is not usable (its value is not shown), it takes redis:// or rediss://",
    );
    expect(line).not.toContain("p%zz");
  });

  test("takes an address with a database's number behind it, and nothing else there", () => {
    expect(readConfig({ REDIS_URL: "redis://host/3, rediss://host:7/" }).redisUrls.length).toBe(2);
    for (const end of ["/abc", "/1/2", "/-1", "/1.5"])
      expect(refusal({ REDIS_URL: `redis://host${end}` })).toContain("but a database's number");
  });

  test("refuses DURABILITY=replica without a Redis", () => {
    expect(refusal({ DURABILITY: "replica" })).toContain("REDIS_URL is unset");
    expect(readConfig({ DURABILITY: "replica", REDIS_URL: "redis://a" }).durability).toBe("replica");
  });

  test("takes a MAX_HEAD_BYTES of 4 to 64 KB", () => {
    for (const value of ["4095", "65537", "16k"])
      expect(refusal({ MAX_HEAD_BYTES: value })).toContain("it takes a whole number from 4096 to 65536");
    expect(readConfig({ MAX_HEAD_BYTES: "65536" }).maxHeadBytes).toBe(65_536);
  });

  test("takes a header's name in any case", () => {
    expect(readConfig({ CLIENT_IP_SOURCE: "X-Forwarded-For" }).clientIpSource).toBe("x-forwarded-for");
  });
});

test("readVariable() counts an empty variable as unset", () => {
  expect(readVariable("SHOP_KEY", { SHOP_KEY: "" })).toBeNull();
  expect(readVariable("SHOP_KEY", {})).toBeNull();
  expect(readVariable("SHOP_KEY", { SHOP_KEY: "sk_1" })?.reveal()).toBe("sk_1");
});

describe("warningsOf()", () => {
  test("has nothing to say to a plain start", () => {
    expect(warningsOf(readConfig({}))).toEqual([]);
    expect(
      warningsOf(readConfig({ REDIS_URL: "redis://127.0.0.1", HARNESS_API_KEY: "k".repeat(24) })),
    ).toEqual([]);
    expect(warningsOf(readConfig({ HARNESS_API_KEY: `${"k".repeat(24)} ${"s".repeat(23)}` }))).toEqual([
      "HARNESS_API_KEY has a key of fewer than 24 characters: it can be guessed",
    ]);
  });

  test("tells that instances of one Redis would make different keys", () => {
    expect(warningsOf(readConfig({ REDIS_URL: "redis://localhost" })).join()).toContain("HARNESS_API_KEY");
  });

  test("tells of a Redis elsewhere without a password, never of the password", () => {
    const env = { HARNESS_API_KEY: "k".repeat(24), REDIS_URL: "redis://redis.example" };
    expect(warningsOf(readConfig(env)).join()).toContain("without a password");
    expect(warningsOf(readConfig({ ...env, REDIS_URL: "redis://:p@redis.example" }))).toEqual([]);
  });

  test("tells of more hops than anybody has", () => {
    const env = { CLIENT_IP_SOURCE: "x-forwarded-for", TRUSTED_PROXY_HOPS: "99" };
    expect(warningsOf(readConfig(env)).join()).toContain("TRUSTED_PROXY_HOPS");
  });
});

describe("PROCESSES", () => {
  const onRedis = (PROCESSES: string) => readConfig({ PROCESSES, REDIS_URL: "redis://127.0.0.1" }).processes;

  test("1 is one process without a supervisor, a number so many, auto one for each core", () => {
    expect([onRedis("1"), onRedis("2"), onRedis("256")]).toEqual([null, 2, 256]);
    expect(onRedis("auto")).toBe(availableParallelism());
    expect(readConfig({ PROCESSES: "1" }).processes).toBeNull();
  });

  test.each(["0", "257", "1.5", "-1", "two", "AUTO"])("%s is refused with what it takes", (PROCESSES) => {
    const takes = "it takes auto, or a whole number from 1 to 256";
    expect(refusal({ PROCESSES, REDIS_URL: "redis://127.0.0.1" })).toContain(takes);
  });

  test.each(["2", "auto"])("%s needs a store that processes share", (PROCESSES) => {
    expect(refusal({ PROCESSES })).toBe(
      `Cannot read the configuration: PROCESSES is "${PROCESSES}", it takes a store that processes share, and REDIS_URL is unset`,
    );
  });
});
