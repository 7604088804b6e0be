import { createElement, useEffect } from "react";
import { hydrateRoot } from "react-dom/client";
import { App } from "./hydrated-view.js";

function Hydrated() {
  useEffect(() => void (window.isHydrated = true), []);
  return createElement(App);
}

hydrateRoot(document.querySelector("#root"), createElement(Hydrated));
