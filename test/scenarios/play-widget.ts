/**
 * The widget's scenario against any running service, by hand:
 *
 *     npx tsx test/scenarios/play-widget.ts --url http://127.0.0.1:8080 --origin http://127.0.0.1:8081 --key pk_…
 *
 * `--url` may be repeated: instances of one service. Exits 1 at the first answer that is not as it should be.
 */
import { parseArgs } from "node:util";
import { playWidget } from "./widget-scenario.ts";

const { values } = parseArgs({
  options: {
    url: { type: "string", multiple: true, default: ["http://127.0.0.1:8080"] },
    origin: { type: "string", default: "http://127.0.0.1:8081" },
    key: { type: "string", default: "" },
  },
});
await playWidget({ urls: values.url, origin: values.origin, publishableKey: values.key }, (sentence) =>
  process.stdout.write(`${sentence}\n`),
);
