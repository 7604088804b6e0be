import type { KeyDoor } from "../admission/key-door.ts";
import type { Config } from "../config.ts";
import { frontPageRoute } from "../http/front-page.ts";
import { metricsRoute } from "../http/metrics-route.ts";
import type { Exposition } from "../http/metrics-route.ts";
import type { Route } from "../http/route.ts";
import { loadWidgetScript, pinnedScript, widgetRoute } from "../http/widget-script.ts";
import type { WidgetScript } from "../http/widget-script.ts";
import type { Log } from "../log.ts";
import type { Secret } from "../secret.ts";

/** The routes other than the API: the front page, the widget's script, and metrics. */
export async function routesBeside(options: {
  config: Config;
  log: Log;
  keyDoor: KeyDoor;
  transportKey: Secret;
  exposition: Exposition;
  /** The demo's page opens after the service. */
  demoUrl: () => string | null;
}): Promise<Route[]> {
  const { config, log, keyDoor, transportKey, exposition, demoUrl } = options;
  const widget = await loadWidget(log);
  return [
    frontPageRoute(() => ({
      demoUrl: demoUrl(),
      hasConsole: config.console,
      script: widget === null ? null : pinnedScript(widget),
    })),
    ...(widget === null ? [] : [widgetRoute(widget)]),
    metricsRoute(exposition, { transportKeys: [transportKey, ...config.olderApiKeys], keyDoor }),
  ];
}

/** The browser element. If it was not built (`npm run build`), the rest of the service runs without it. */
async function loadWidget(log: Log): Promise<WidgetScript | null> {
  try {
    return await loadWidgetScript();
  } catch (error) {
    log.warn({ err: error }, "Cannot serve the widget's script: it was not built");
    return null;
  }
}
