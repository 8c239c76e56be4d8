declare const BUILD: string;

/** How the names of this page's caches begin. Caches belong to a whole origin, which may have other versions of the page. */
export const OWN = `textveil ${new URL("./", location.href).pathname} `;
/** The cache of this build. */
export const CACHE = OWN + BUILD;
