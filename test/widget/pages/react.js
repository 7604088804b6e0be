// A page in React, in StrictMode: the chat is an element of its own, or one that an effect puts into the page.
import { StrictMode, createElement as h, useEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";

const query = new URLSearchParams(location.search);

function Chat() {
  const [given, setGiven] = useState({ tools: window.offered });
  window.give = setGiven;
  return h("chat-agent", { "publishable-key": "pk_test", ...given });
}

function ChatOfEffect() {
  const box = useRef(null);
  useEffect(() => {
    const agent = document.createElement("chat-agent");
    agent.setAttribute("publishable-key", "pk_test");
    agent.tools = window.offered;
    box.current.append(agent);
    return () => agent.remove();
  }, []);
  return h("div", { ref: box });
}

function App() {
  const [view, setView] = useState(0);
  window.remount = () => setView((now) => now + 1);
  return h(
    "main",
    null,
    h("h1", null, `View ${view}`),
    h(query.has("effect") ? ChatOfEffect : Chat, { key: view }),
  );
}

createRoot(document.querySelector("#root")).render(h(StrictMode, null, h(App)));
