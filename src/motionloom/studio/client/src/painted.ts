// When something of the page is on the screen.

// Resolves once the first of it is, or after a second without that report.
export function painted(): Promise<void> {
  return new Promise((done) => {
    new PerformanceObserver((_entries, watch) => {
      watch.disconnect();
      done();
    }).observe({ type: "paint", buffered: true });
    setTimeout(done, 1000);
  });
}

// Resolves once what was put into the page so far is drawn, or after a second: a page that is hidden draws nothing.
export function drawn(): Promise<void> {
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 1000);
  });
}
