// A page that a server renders in React and the browser hydrates, as src/widget/README.md says.
import { StrictMode, createElement as h, useEffect, useRef } from "react";

function Chat() {
  const agent = useRef(null);
  useEffect(() => {
    agent.current.tools = window.offered;
  }, []);
  return h("chat-agent", { ref: agent, "publishable-key": "pk_test", suppressHydrationWarning: true });
}

export function App() {
  return h(StrictMode, null, h("main", null, h("h1", null, "Rendered"), h(Chat)));
}
