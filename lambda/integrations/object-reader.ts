import type { ObjectStore } from './object-store.ts';

/** Reads objects of one bucket, and signs links to them. The client of S3 is loaded for the first: people rarely ask for files. */
export const openObjectReader = (bucket: string): Pick<ObjectStore, 'getRange' | 'signGet'> => {
  let store: Promise<ObjectStore> | undefined;
  const open = () => {
    store ??= import('#object-store').then(({ openObjectStore }) => openObjectStore(bucket));
    return store;
  };
  return {
    getRange: async (...range) => (await open()).getRange(...range),
    signGet: async (...link) => (await open()).signGet(...link),
  };
};
