// Export: the result in front as a file, in any format or as a program wants it.

import { button, make, replace } from "./dom";
import type { Mount } from "./panel";
import { madeNow } from "./store";

export const mountExport: Mount = (within, { store, api }) => {
  const format = make("select", { title: "format", class: "export-format" });
  const go = button("Export", "write the result and download it (E)", () => void save(), "primary");
  const said = make("span", { class: "export-said" });
  within.append(format, go, said);

  async function fill(): Promise<void> {
    const { body } = await api.ask("export.formats", {});
    const presets = body.presets.map((each) => make("option", { attrs: { value: `preset:${each.name}` } }, each.verified ? `for ${each.title}` : `for ${each.title} (unverified)`));
    const formats = body.formats.map((each) => make("option", { attrs: { value: each.name } }, each.title));
    replace(format, make("optgroup", { attrs: { label: "programs" } }, ...presets), make("optgroup", { attrs: { label: "formats" } }, ...formats));
    format.value = "bvh";
  }

  async function save(): Promise<void> {
    const made = madeNow(store);
    if (!made) return;
    const preset = format.value.startsWith("preset:") ? format.value.slice(7) : null;
    try {
      const { body } = await api.ask("export.make", { what: String(made.answer.result), format: preset ? "" : format.value, preset });
      const link = make("a", { attrs: { href: body.url, download: body.name } });
      document.body.append(link);
      link.click();
      link.remove();
      said.textContent = `${body.name}, ${(body.bytes / 1024).toFixed(0)} kB`;
    } catch (fault) {
      store.show({ fault: fault instanceof Error ? fault.message : String(fault) });
    }
  }

  document.addEventListener("keydown", (event) => {
    const on = event.target as HTMLElement;
    if (event.key === "e" && !event.ctrlKey && !event.metaKey && !on.closest("input, select, textarea")) void save();
  });
  store.listen(() => { go.disabled = !madeNow(store); });
  go.disabled = true;
  void fill();
};
