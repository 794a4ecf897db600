// Sharing: the result as one offline page, and a link to the present state.

import { button, download } from "./dom";
import { Cancelled } from "./faults";
import { linkOf } from "./links";
import { currentResult } from "./store";
import type { Mount } from "./tools";

export const mountShare: Mount = (within, { store, api }) => {
  const page = button("Share page", "one HTML file with a player, for anyone with a browser", () => void share());
  const link = button("Link", "copy the address of what is shown", () => {
    const address = new URL(location.href);
    address.hash = linkOf(store.project);
    void navigator.clipboard.writeText(address.href).then(() => showText(link, "Copied"));
  });
  within.append(link, page);

  async function share(): Promise<void> {
    const result = currentResult(store);
    if (!result) return;
    try {
      const { body } = await api.ask("page.make", { result: result.answer.result });
      download(body.url, body.name);
      showText(page, `${(body.bytes / 1024 ** 2).toFixed(1)} MB`);
      store.clear("export");
    } catch (error) {
      if (!(error instanceof Cancelled)) store.fail("export", error);
    }
  }

  function showText(on: HTMLButtonElement, text: string): void {
    const before = on.textContent;
    on.textContent = text;
    setTimeout(() => {
      on.textContent = before;
    }, 1500);
  }

  store.listen(() => {
    page.disabled = !currentResult(store);
  });
  page.disabled = true;
};
