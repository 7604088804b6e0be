import { VirtualList } from "../lists/virtual-list.tsx";
import { ROW_HEIGHT, Waiting } from "../lists/paged-list.tsx";
import { Empty } from "../parts/empty.tsx";
import { mayOf, useConsole } from "../shell/console-context.ts";
import { linkTo } from "../shell/route.ts";
import { Titled } from "../shell/titled.tsx";

export function Channels() {
  const { channels, me } = useConsole();
  const may = mayOf(me);
  return (
    <Titled
      title="Channels"
      fills
      actions={
        may.makeChannels && (
          <a class="button main" href={linkTo(["new-channel"])}>
            New channel
          </a>
        )
      }
    >
      {channels === null && <Waiting />}
      {channels?.length === 0 && (
        <Empty title="No channel that you can see.">
          {may.makeChannels ? (
            <a href={linkTo(["new-channel"])}>Create the first one</a>
          ) : (
            <p>Ask an admin for one.</p>
          )}
        </Empty>
      )}
      {channels && channels.length > 0 && (
        <div class="list">
          <VirtualList items={channels} keyOf={({ slug }) => slug} label="Channels" rowHeight={ROW_HEIGHT}>
            {(channel, tabIndex) => (
              <a class="row" href={linkTo(["channels", channel.slug])} tabIndex={tabIndex}>
                <span class="first">{channel.slug}</span>
                <span class="second">
                  {channel.kind === "web"
                    ? `Web: ${channel.allowedOrigins?.join(", ") || "no origins yet"}`
                    : "Transport"}
                </span>
                <span class="flags">
                  {!channel.enabled && <span class="flag bad">off</span>}
                  {channel.accessMode === "whitelist" && <span class="flag">whitelist</span>}
                </span>
              </a>
            )}
          </VirtualList>
        </div>
      )}
    </Titled>
  );
}
