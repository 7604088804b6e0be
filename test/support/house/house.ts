/**
 * The house: its layers from the ground up, what each of its places is for, and what may import what. The test of the
 * imports (test/house.test.ts) judges by it, and README's map is printed from it.
 */
export interface Place {
  /** From the root; a folder ends in a slash. */
  path: string;
  /** What it is for, in one sentence. */
  is: string;
  /** Its folders. */
  rooms?: readonly Place[];
}

export interface Layer {
  name: string;
  places: readonly Place[];
}

/** A file imports from its own layer and from those below it. Only the wiring names an implementation of a contract. */
export const SERVICE: readonly Layer[] = [
  {
    name: "the protocol",
    places: [
      {
        path: "src/protocol/",
        is: "what clients read, a schema each: types, checks, OpenAPI and client.d.ts come from it",
      },
    ],
  },
  {
    name: "the ground",
    places: [
      {
        path: "machines/",
        is: "the statecharts, importing nothing but xstate and the types of lines",
        rooms: [{ path: "machines/draw/", is: "pictures of the charts" }],
      },
    ],
  },
  {
    name: "the client",
    places: [
      {
        path: "src/client/",
        is: "the server API's typed client, for other programs: chat-agent-service/client",
        rooms: [
          {
            path: "src/client/core/",
            is: "shared with other readers of the service's streams: lines, silence, reconnecting, text that is safe to read",
          },
        ],
      },
    ],
  },
  {
    name: "records and rules",
    places: [
      {
        path: "src/domain/",
        is: "records and rules without I/O",
        rooms: [
          { path: "src/domain/threads/", is: "messages, runs, holds, and what is kept of them" },
          { path: "src/domain/channels/", is: "channels, their fields, tools and webhooks" },
          { path: "src/domain/people/", is: "visitors, users and operators" },
        ],
      },
    ],
  },
  {
    name: "basics",
    places: [
      { path: "src/log.ts", is: "the log, which hides secrets" },
      { path: "src/config.ts", is: "the environment, parsed once; the only reader of process.env" },
      {
        path: "src/config/",
        is: "parsers of its values, settings of OpenID Connect and tracing, warnings at start",
      },
      { path: "src/keys.ts", is: "making keys, and the hashes that are stored of them" },
      { path: "src/secret.ts", is: "a value that prints as [secret]" },
      { path: "src/errors.ts", is: "message and code of any thrown value" },
      { path: "src/is-record.ts", is: "telling objects with fields from what else JSON may be" },
      { path: "src/version.ts", is: "the version in package.json" },
      { path: "src/clock.ts", is: "the clock and timers, which tests can replace" },
      {
        path: "src/public-lookup.ts",
        is: "looking up names where only public addresses may be connected to",
      },
      { path: "src/owners-package.ts", is: "finding a package that an owner installs" },
      { path: "src/bounded-body.ts", is: "reading no more of somebody else's answer than its bounds" },
      { path: "src/worker/", is: "starting the thread of a module, from its source or as built" },
    ],
  },
  {
    name: "contracts",
    places: [
      { path: "src/store.ts", is: "contract: what is stored, and the atomic steps that change it" },
      {
        path: "src/store/",
        is: "its contracts: channels, users, their keys, threads, threads of a channel, deletion, instances, operators, statistics, webhooks, documents",
      },
      { path: "src/agent.ts", is: "contract: one model turn, or one call of a server-side tool" },
      { path: "src/trace.ts", is: "contract: spans of requests, runs, model calls and tools" },
      { path: "src/model.ts", is: "contract: one turn of a chat model, streamed" },
      {
        path: "src/knowledge.ts",
        is: "contract: the documents of channels, and what a question finds in them",
      },
      { path: "src/listener.ts", is: "contract: HTTP bytes in, HTTP bytes out" },
    ],
  },
  {
    name: "implementations, and what HTTP is made of",
    places: [
      {
        path: "src/messengers/",
        is: "users of Telegram, Slack, WhatsApp, Discord and Teams: what they say comes in, what enters their threads goes out",
        rooms: [
          {
            path: "src/messengers/platforms/",
            is: "each platform's bounds and limits, what its adapter's errors mean, and what a check asks",
          },
        ],
      },
      {
        path: "src/admission/",
        is: "admission of a request: length, origin, address, key or token, user, rate",
      },
      {
        path: "src/openid/",
        is: "signing in to the console by OpenID Connect: the provider, and its claims",
      },
      {
        path: "src/operators/",
        is: "what operators can do, for the API and the command line; and the audit",
        rooms: [
          {
            path: "src/operators/threads/",
            is: "conversations: lists, search, watching, taking over, what operators keep of them",
          },
          { path: "src/operators/accounts/", is: "operators themselves: roles, keys, what each may see" },
          { path: "src/operators/stats/", is: "counting what happens, for the console's figures" },
          { path: "src/operators/retention/", is: "deleting what is past its date" },
        ],
      },
      {
        path: "src/webhooks/",
        is: "sending events to the receivers of channels: signed, in order, repeated until accepted",
      },
      { path: "src/visitors/", is: "visitors' tokens: minted, used, linked to an account, merged into it" },
      {
        path: "src/threads/",
        is: "runs the charts: load, decide, save, perform; recovery",
        rooms: [
          {
            path: "src/threads/hold/",
            is: "a thread that this process holds, from its claim to its release",
          },
          {
            path: "src/threads/summaries/",
            is: "summaries of the beginnings of long conversations, in the background",
          },
          { path: "src/threads/say/", is: "what callers ask of a thread, and the streams that answer" },
          { path: "src/threads/handoff/", is: "people who answer instead of the model" },
          {
            path: "src/threads/recover/",
            is: "threads of processes that died, and records that cannot be read",
          },
          { path: "src/threads/delete/", is: "deletions, until nothing is left" },
          { path: "src/threads/feeds/", is: "live feeds of a thread, for every reader on any instance" },
          {
            path: "src/threads/desk/",
            is: "what is kept beside a conversation: notes, labels, an address, ratings",
          },
          { path: "src/threads/following/", is: "following a run that another instance holds" },
        ],
      },
      { path: "src/charts/", is: "hosts of the charts: what they decide, as data; their snapshots as text" },
      {
        path: "src/agent/",
        is: "the agent: prompt, tools, budgets",
        rooms: [
          { path: "src/agent/tools/", is: "tools as they are offered and called: names, schemas, arguments" },
          {
            path: "src/agent/history/",
            is: "what of a long history a model is sent, and the summary of the rest",
          },
          { path: "src/agent/mcp/", is: "the MCP servers of channels: their tools, calls and answers" },
          {
            path: "src/agent/mcp/connect/",
            is: "connections to them: addresses, transports, revisions, what is read of their answers",
          },
          {
            path: "src/agent/mcp/sign-in/",
            is: "visitors who sign in to them, and connections that are one visitor's",
          },
        ],
      },
      {
        path: "src/stores/",
        is: "implementations of store.ts",
        rooms: [
          {
            path: "src/stores/steps/",
            is: "store.ts as reads and steps: one implementation for every database",
          },
          { path: "src/stores/steps/users/", is: "users, their tokens, accounts and names for threads" },
          {
            path: "src/stores/steps/threads/",
            is: "threads: loading, committing, waiting messages, what cannot be read",
          },
          { path: "src/stores/steps/orders/", is: "lists of threads, by activity and by state" },
          { path: "src/stores/steps/deletions/", is: "deleting users and threads, and what refers to them" },
          { path: "src/stores/steps/outbox/", is: "events for webhooks, their queues and deliveries" },
          {
            path: "src/stores/files/",
            is: "where the bytes of visitors' files may be: a folder, or a bucket",
          },
          { path: "src/stores/engines/", is: "the databases, behind one small contract: engine.ts" },
          { path: "src/stores/engines/lmdb/", is: "lmdb, a file of this machine" },
          { path: "src/stores/engines/redis/", is: "Redis and Redis Cluster" },
          {
            path: "src/stores/engines/redis/cluster/",
            is: "the nodes of a cluster, and which of them has which slots",
          },
          { path: "src/stores/records/", is: "records as they are stored, and read back" },
          { path: "src/stores/check/", is: "checks of what is stored, and repairs" },
          { path: "src/stores/backup/", is: "a whole store to one file, and back" },
          {
            path: "src/stores/content-keys/",
            is: "encryption at rest, with a key for each user",
          },
        ],
      },
      {
        path: "src/models/",
        is: "implementation of model.ts: OpenAI's two APIs, every compatible server, and packages of the AI SDK",
        rooms: [
          { path: "src/models/request/", is: "what a model is sent" },
          { path: "src/models/packages/", is: "provider packages of the AI SDK, which owners install" },
          { path: "src/models/responses/", is: "the same by OpenAI's Responses API, and its answers" },
          { path: "src/models/exchange/", is: "one request over HTTP, and its answer as it comes" },
          { path: "src/models/reply/", is: "a streamed answer, read: text, calls, thoughts, usage" },
          { path: "src/models/refusals/", is: "refusals, and what is sent otherwise because of them" },
        ],
      },
      {
        path: "src/knowledge/",
        is: "implementation of knowledge.ts: documents of channels, read, divided into passages, found by questions",
        rooms: [
          {
            path: "src/knowledge/read/",
            is: "the main text of HTML, Markdown, PDF and Word, in a thread of its own",
          },
          {
            path: "src/knowledge/fetch/",
            is: "the pages of a site or a sitemap, as far as they have changed",
          },
          {
            path: "src/knowledge/sync/",
            is: "reading the sources of a channel when they are due, by one instance at a time",
          },
          {
            path: "src/knowledge/search/",
            is: "the index over the passages of all channels, in memory, in a thread of its own",
          },
        ],
      },
      { path: "src/traces/", is: "implementation of trace.ts: OpenTelemetry, loaded only if configured" },
      {
        path: "src/listeners/",
        is: "implementations of listener.ts",
        rooms: [
          { path: "src/listeners/uws/", is: "uWebSockets.js" },
          { path: "src/listeners/node/", is: "node:http" },
        ],
      },
    ],
  },
  {
    name: "HTTP",
    places: [
      {
        path: "src/http/",
        is: "HTTP in, HTTP out: each endpoint is one declaration",
        rooms: [
          { path: "src/http/server-api/", is: "endpoints for backends and bots" },
          { path: "src/http/widget-api/", is: "endpoints for browsers, and CORS" },
          { path: "src/http/ai-sdk/", is: "endpoints for the AI SDK's client: our lines as its frames" },
          {
            path: "src/http/ag-ui/",
            is: "endpoints for AG-UI's clients and CopilotKit: our lines as its events",
          },
          { path: "src/http/operator-api/", is: "endpoints for operators" },
          {
            path: "src/http/files/",
            is: "files and images that come with messages: what is taken, and how it is answered",
          },
          {
            path: "src/http/feeds/",
            is: "a thread's feed as an answer that stays open, and who may read it",
          },
          { path: "src/http/stream/", is: "a reply as lines of JSON or as server-sent events, with gzip" },
          {
            path: "src/http/reference/",
            is: "OpenAPI and Swagger UI, made from the endpoints' declarations",
          },
          { path: "src/http/console/", is: "the console's page and files, and signing in to it" },
        ],
      },
    ],
  },
  {
    name: "the demo",
    places: [
      {
        path: "src/demo/",
        is: "what a start without configuration adds: a demo shop, its pages and its MCP server",
        rooms: [
          { path: "src/demo/model/", is: "an OpenAI-compatible server that answers by fixed rules" },
          { path: "src/demo/rules/", is: "the shop's rules of delivery, returns and the rest, as documents" },
        ],
      },
    ],
  },
  {
    name: "replay",
    places: [
      {
        path: "src/replay/",
        is: "plays recorded conversations against another model or other instructions, and checks the replies",
      },
    ],
  },
  {
    name: "the installation",
    places: [
      {
        path: "src/installation/",
        is: "shared by the service and the commands: channels file, providers file, keys, store, model",
      },
    ],
  },
  {
    name: "the wiring",
    places: [
      {
        path: "src/start/",
        is: "the steps of a start: resources, channels, the service, its pages, demo, greeting; and signals",
        rooms: [
          {
            path: "src/start/processes/",
            is: "PROCESSES: the supervisor, which starts, replaces and counts the others, and its side in each of them",
          },
        ],
      },
      {
        path: "src/service.ts",
        is: "the wiring: dependencies in, a running service out; tests start this one",
      },
      { path: "src/metrics/", is: "counts and times, for Prometheus" },
    ],
  },
  {
    name: "the process",
    places: [
      {
        path: "src/main.ts",
        is: "the process: environment, log, start, stop; or, with PROCESSES, the supervisor",
      },
    ],
  },
  {
    name: "the command line",
    places: [
      {
        path: "src/cli/",
        is: "the chat-agent command, a file or folder for each sub-command",
        rooms: [
          {
            path: "src/cli/command/",
            is: "what every sub-command has: options, the store or the API, printing",
          },
          { path: "src/cli/chat/", is: "chatting in a terminal" },
          { path: "src/cli/channels/", is: "making and changing channels" },
          {
            path: "src/cli/init/",
            is: "setting up your own site: questions, files, lines to paste",
          },
          { path: "src/cli/replay/", is: "reading cases, replaying them, reporting the results" },
          {
            path: "src/cli/store/",
            is: "counting, checking, compacting, re-keying, backing up and restoring the store",
          },
        ],
      },
    ],
  },
];

/** The widget has layers of its own. Browsers run it, so it shares nothing with the service but the lines of a stream, and how they are read. */
export const WIDGET: readonly Layer[] = [
  {
    name: "the widget's words and styles",
    places: [
      { path: "src/widget/strings/", is: "its texts in twelve languages, a file each" },
      {
        path: "src/widget/files/",
        is: "a visitor's files: what one is, how it is read, dropped on the panel",
      },
      { path: "src/widget/images/", is: "a visitor's images: picked, scaled down, shown in full" },
      { path: "src/widget/styles/", is: "its stylesheet" },
      { path: "src/widget/released/", is: "the files of released versions, for pages that pin them" },
    ],
  },
  {
    name: "the widget's service",
    places: [
      { path: "src/widget/service/", is: "requests, streams, visitor token, history, browser storage" },
      { path: "src/widget/chart/", is: "runs a chart of machines/ in the page, in the place of XState" },
    ],
  },
  {
    name: "the widget's tools and view",
    places: [
      { path: "src/widget/tools/", is: "the page's tools: their catalog, and running a call" },
      { path: "src/widget/view/", is: "the components, and the state that they show" },
      {
        path: "src/widget/view/message/",
        is: "one message: its text, images and sources, and what can be done with it",
      },
      {
        path: "src/widget/view/composer/",
        is: "what the visitor writes, and the files and images beside it",
      },
      {
        path: "src/widget/view/people/",
        is: "who answers instead of the assistant, and what a visitor leaves them",
      },
      { path: "src/widget/view/markdown/", is: "markdown as components, safe and within bounds" },
    ],
  },
  {
    name: "the widget's runs",
    places: [
      { path: "src/widget/run/", is: "what a visitor can do" },
      { path: "src/widget/run/tab/", is: "the tab's chart at work: its run, and what is done for it" },
      {
        path: "src/widget/run/thread/",
        is: "the thread's feed, who answers, and the visitor's other threads",
      },
      { path: "src/widget/run/messages/", is: "messages: sent, unsent, seen, and the history that is shown" },
    ],
  },
  { name: "the widget's element", places: [{ path: "src/widget/", is: "the element on customers' pages" }] },
];

/** The console has layers of its own: rooms on top of each other's lists and parts, and the shell around all of them. */
export const CONSOLE: readonly Layer[] = [
  {
    name: "the console",
    places: [
      {
        path: "src/console/shell/",
        is: "sign-in, address, navigation, keyboard shortcuts, and which page is shown",
      },
      { path: "src/console/overview/", is: "plots by day, spending caps, the latest machines" },
      { path: "src/console/inbox/", is: "live conversations, and lists of all" },
      { path: "src/console/conversation/", is: "one conversation: its chat, its facts, its desk" },
      { path: "src/console/machine/", is: "a conversation's machine: in words, by event, in its chart" },
      { path: "src/console/users/", is: "the users of a channel, and the page of one user" },
      { path: "src/console/channels/", is: "channels, their settings and keys" },
      { path: "src/console/documents/", is: "the documents of a channel: sources, and trying a question" },
      { path: "src/console/administration/", is: "blocked addresses, operators, the audit" },
      { path: "src/console/lists/", is: "long lists that draw only their visible rows" },
      { path: "src/console/parts/", is: "fields, dialogs, times: parts that all pages use" },
      { path: "src/console/service/", is: "calls of the operator API" },
      { path: "src/console/styles/", is: "its stylesheet" },
      { path: "src/console/", is: "the operators' console" },
    ],
  },
];

/**
 * Code for a browser, each a bundle of its own, all that it takes from outside its folder, and what another bundle may
 * take of it.
 */
export const BUNDLES: readonly (Place & { takes: readonly string[]; gives?: readonly string[] })[] = [
  {
    path: "src/widget/",
    is: "the element on customers' pages",
    takes: [
      "machines/line.ts",
      "machines/tab.ts",
      "machines/tab-events.ts",
      "src/protocol/fits.ts",
      "src/protocol/channel-facts.ts",
      "src/protocol/feed.ts",
      "src/protocol/handoffs.ts",
      "src/protocol/history.ts",
      "src/protocol/lines.ts",
      "src/protocol/threads.ts",
      "src/client/core/backoff.ts",
      "src/client/core/follow.ts",
      "src/client/core/pause.ts",
      "src/client/core/printable.ts",
      "src/client/core/refusals.ts",
      "src/domain/threads/image-dimensions.ts",
      "src/domain/channels/portable-schema.ts",
      "preact",
      "preact/jsx-runtime",
      "marked",
      "temml",
      // The third file, beside the second.
      "chat-agent-formulas",
    ],
    gives: ["src/widget/view/markdown/render-markdown.ts"],
    rooms: WIDGET.slice(0, -1)
      .toReversed()
      .flatMap(({ places }) => places),
  },
  {
    path: "src/demo/shop/",
    is: "the script of the demo shop's pages",
    takes: ["machines/line.ts", "src/demo/chart-state.ts", "src/demo/products.ts"],
    rooms: [{ path: "src/demo/shop/pictures/", is: "pictures of its products" }],
  },
  {
    path: "src/console/",
    is: "the operators' console",
    takes: [
      "machines/line.ts",
      "machines/state-path.ts",
      "machines/thread.ts",
      "machines/draw/outline.ts",
      "src/protocol/feed.ts",
      "src/protocol/history.ts",
      "src/protocol/lines.ts",
      "src/protocol/threads.ts",
      "src/protocol/user.ts",
      "src/client/core/backoff.ts",
      "src/client/core/follow-feed.ts",
      "src/client/core/json-lines.ts",
      "src/protocol/draft.ts",
      "src/client/core/pause.ts",
      "src/client/core/printable.ts",
      "src/client/core/refusals.ts",
      "src/domain/threads/image-dimensions.ts",
      "src/operators/accounts/sight.ts",
      "src/widget/view/markdown/render-markdown.ts",
      "preact",
      "preact/hooks",
      "uplot",
    ],
    rooms: CONSOLE.flatMap(({ places }) => places).filter(({ path }) => path !== "src/console/"),
  },
];

/** Places that no layer has. */
export const BESIDE: readonly Place[] = [
  {
    path: "src/deploy/",
    is: "files for systemd, Kubernetes and proxies; Dockerfile and compose.yaml are at the top",
    rooms: [
      { path: "src/deploy/kubernetes/", is: "manifests for Kubernetes" },
      { path: "src/deploy/monitoring/", is: "alert rules, a dashboard, and what to do about each alert" },
    ],
  },
  {
    path: "test/",
    is: "the tests; its folders mirror src and machines",
    rooms: [
      {
        path: "test/simulation/",
        is: "the whole service in one process, with simulated time and faults, from a seed",
      },
      { path: "test/fresh-machine/", is: "the README's commands, tried on a bare Debian" },
    ],
  },
  { path: "bench/", is: "benchmarks: a file for each question about speed and memory" },
];

/** Places side by side in one layer, or a layer apart, that do not know each other. */
export const STRANGERS: readonly (readonly [place: string, others: readonly string[]])[] = [
  ["src/stores/", ["src/models/", "src/listeners/", "src/agent/", "src/threads/", "src/admission/"]],
  ["src/models/", ["src/stores/", "src/listeners/", "src/agent/", "src/threads/", "src/admission/"]],
  ["src/listeners/", ["src/stores/", "src/models/", "src/agent/", "src/threads/", "src/admission/"]],
  ["src/agent/", ["src/stores/", "src/models/", "src/listeners/", "src/threads/", "src/admission/"]],
  [
    "src/traces/",
    ["src/stores/", "src/models/", "src/listeners/", "src/threads/", "src/admission/", "src/agent/"],
  ],
  ["src/threads/", ["src/stores/", "src/models/", "src/listeners/", "src/agent/"]],
  ["src/admission/", ["src/stores/", "src/models/", "src/listeners/", "src/agent/", "src/threads/"]],
  ["src/http/", ["src/stores/", "src/models/", "src/listeners/", "src/agent/"]],
  // Nothing real is touched: no store, no server.
  [
    "src/replay/",
    ["src/stores/", "src/store.ts", "src/models/", "src/listeners/", "src/http/", "src/admission/"],
  ],
  // Commands other than `serve` work beside a running service, and load none of its start.
  ["src/cli/", ["src/start/", "src/service.ts"]],
  ["src/widget/view/", ["src/widget/tools/", "src/widget/service/"]],
  ["src/widget/tools/", ["src/widget/view/", "src/widget/strings/"]],
];

/** Packages that only their implementation knows. */
export const PACKAGES: readonly (readonly [name: string, users: readonly string[]])[] = [
  ["uWebSockets.js", ["src/listeners/uws"]],
  ["lmdb", ["src/stores/"]],
  ["redis", ["src/stores/"]],
  ["openai", ["src/models/"]],
  ["openid-client", ["src/openid/"]],
  ["@modelcontextprotocol/client", ["src/agent/"]],
  ["@modelcontextprotocol/sdk", ["src/demo/"]],
  ["@opentelemetry", ["src/traces/"]],
];

/** Build scripts run before there is a service. */
export const BUILD_SCRIPTS: readonly string[] = [
  "src/widget/build.mjs",
  "src/console/build.mjs",
  "src/build.mjs",
  "src/build-in-place.mjs",
  "src/build-sources.mjs",
  "src/demo/build.mjs",
];
