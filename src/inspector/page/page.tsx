import { render } from "preact";
import { useState } from "preact/hooks";
import type { Outline } from "../../../machines/draw/outline.ts";
import { Inspector } from "./inspector.tsx";
import { forgetKey, takeKey } from "./key.ts";
import { WrongKey, createService } from "./service.ts";
import type { Service } from "./service.ts";

function Closed({ reason }: { reason: string }) {
  return (
    <main class="closed">
      <h1>Machines</h1>
      <p>{reason}</p>
      <p>The service prints the link that opens this page when it starts.</p>
    </main>
  );
}

function Page({ service, outline }: { service: Service; outline: Outline }) {
  const [trouble, setTrouble] = useState<string | null>(null);
  const [closed, setClosed] = useState(false);
  const fail = (error: unknown) => {
    if (error instanceof WrongKey) {
      forgetKey();
      setClosed(true);
    } else {
      setTrouble(error instanceof Error ? error.message : String(error));
    }
  };
  if (closed) return <Closed reason="This key is not the service's." />;
  return (
    <>
      {trouble !== null && (
        <p class="trouble" role="alert">
          {trouble}
        </p>
      )}
      <Inspector service={service} outline={outline} onError={fail} />
    </>
  );
}

const key = takeKey();
if (key === null) {
  render(<Closed reason="This page needs its key." />, document.body);
} else {
  // A cast: the service writes the file from the chart.
  const outline = (await (await fetch("/machines/thread.json")).json()) as Outline;
  render(<Page service={createService(key)} outline={outline} />, document.body);
}
