/** The collections of the API with items that a form creates and changes, by path: what pages say of them, and the name of their page. */
export const collections = {
  '/alert-rules': {
    noun: 'rule',
    page: 'limit',
    create: 'Create the rule',
    afterDeletion: 'It stops checking your spend. Its alerts stay.',
    needs: 'rules:write',
  },
  '/budgets': {
    noun: 'budget',
    page: 'limit',
    create: 'Create the budget',
    afterDeletion: 'What it refuses passes again within seconds. Its alerts stay.',
    needs: 'rules:write',
  },
  '/pauses': {
    noun: 'pause',
    page: 'limit',
    create: 'Pause',
    created: 'Paused: requests are refused within seconds, or within a minute if it is the first time.',
    afterDeletion: '',
    needs: 'rules:write',
  },
  '/access-rules': {
    noun: 'access rule',
    page: 'limit',
    create: 'Set it',
    created: 'Set: other requests are refused within a minute.',
    afterDeletion: 'What it refuses passes again within seconds.',
    needs: 'keys:write-all',
  },
  '/reports': {
    noun: 'report',
    page: 'report',
    create: 'Create the report',
    afterDeletion: 'It is not sent any more.',
    needs: 'reports:write',
  },
  '/prices': {
    noun: 'price',
    page: 'price',
    create: 'Add the price',
    afterDeletion:
      'As if it had never been: requests it applied to are priced again. To end it, edit it and set its last day.',
    needs: 'prices:write',
  },
} as const;

export type Collection = keyof typeof collections;

/** The path of the page that lists a collection. */
export const listOf = <Of extends Collection>(collection: Of): `/${(typeof collections)[Of]['page']}s` =>
  `/${collections[collection].page}s`;

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
