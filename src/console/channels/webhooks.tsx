import { Waiting } from "../lists/paged-list.tsx";
import { Empty } from "../parts/empty.tsx";
import { useLoaded } from "../parts/use-loaded.ts";
import { useLookAgain } from "../parts/use-look-again.ts";
import { Trouble } from "../parts/trouble.tsx";
import { pathOf } from "../service/api.ts";
import type { WebhookView } from "../service/views.ts";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";
import { Endpoint } from "./endpoint.tsx";

/** Who is told what happens in a channel, and whether they take it. */
export function Webhooks({ slug }: { slug: string }) {
  const { api, me } = useConsole();
  const loaded = useLoaded<WebhookView[]>(
    async (signal) => (await api.list<WebhookView>(pathOf("channels", slug, "webhooks"), {}, signal)).items,
    [slug],
  );
  // Deliveries happen on their own.
  useLookAgain(loaded.reload);
  const endpoints = loaded.value;
  return (
    <Titled
      title="Webhooks"
      above={
        <>
          <a href={linkTo(["channels"])}>Channels</a> / <a href={linkTo(["channels", slug])}>{slug}</a>
        </>
      }
    >
      <Trouble text={loaded.trouble} onRetry={loaded.reload} />
      {endpoints === null && loaded.trouble === null && <Waiting />}
      {endpoints?.length === 0 && (
        <Empty title="This channel has no webhooks.">
          <p>
            Name an address of yours in the channel's <code>webhooks</code>, in the channels file or by{" "}
            <code>PATCH /v1/operator/channels/{slug}</code>. What it takes, and what not, is seen here.
          </p>
        </Empty>
      )}
      <div class="endpoints">
        {endpoints?.map((endpoint) => (
          <Endpoint
            key={endpoint.url}
            slug={slug}
            endpoint={endpoint}
            mayAct={mayOf(me).changeChannels}
            onActed={loaded.reload}
          />
        ))}
      </div>
    </Titled>
  );
}
