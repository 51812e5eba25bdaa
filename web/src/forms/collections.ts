/** The collections of the API with items that a form creates and changes, by path: what pages say of them, and where their list is. */
export const collections = {
  '/alert-rules': {
    noun: 'rule',
    list: '/rules',
    create: 'Create the rule',
    afterDeletion: 'It stops checking your spend. Its alerts are kept.',
    needs: 'rules:write',
  },
  '/budgets': {
    noun: 'budget',
    list: '/budgets',
    create: 'Create the budget',
    afterDeletion: 'What it refuses passes again within seconds. Its alerts are kept.',
    needs: 'rules:write',
  },
  '/reports': {
    noun: 'report',
    list: '/reports',
    create: 'Create the report',
    afterDeletion: 'It is not sent any more.',
    needs: 'rules:write',
  },
  '/prices': {
    noun: 'price',
    list: '/prices',
    create: 'Add the price',
    afterDeletion:
      'As if it had never been: requests it applied to are priced again. To end it, edit it and set its last day.',
    needs: 'prices:write',
  },
} as const;

export type Collection = keyof typeof collections;

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
