// The first stop of the tab key: past the header and the library to the stage.

import { make } from "./dom";

export function mountSkip(target: () => HTMLElement | null): void {
  document.body.prepend(
    make(
      "a",
      {
        class: "skip",
        attrs: { href: "#stage" },
        on: {
          click: (event) => {
            event.preventDefault(); // the part after # is the project's
            target()?.focus();
          },
        },
      },
      "Skip to the stage",
    ),
  );
}
