import {
  BellRing,
  ChartColumnStacked,
  CreditCard,
  Ellipsis,
  FileChartColumn,
  GitCompareArrows,
  HandCoins,
  KeyRound,
  List,
  PackageOpen,
  PiggyBank,
  Plug,
  Scale,
  ScrollText,
  Settings,
  SlidersHorizontal,
  SquareTerminal,
  Tags,
  UserRoundCog,
  Users,
  Workflow,
} from 'lucide-react';

const overview = { to: '/', label: 'Overview', icon: ChartColumnStacked, needs: 'spend:read' } as const;
const access = { to: '/access', label: 'My access', icon: UserRoundCog, needs: 'keys:write' } as const;
const requests = { to: '/requests', label: 'Requests', icon: List, needs: 'requests:read' } as const;
const alerts = { to: '/alerts', label: 'Alerts', icon: BellRing, needs: 'rules:read' } as const;
const keys = { to: '/keys', label: 'Keys', icon: KeyRound, needs: 'keys:read' } as const;
const more = { to: '/more', label: 'More', icon: Ellipsis, needs: 'self:write' } as const;

/** The entries of the side menu, by what people come for. Each leads to its first page; its pages link to each other. */
export const pageGroups = [
  { name: 'Overview', pages: [overview] },
  {
    name: 'Compare',
    pages: [{ to: '/compare', label: 'Compare', icon: GitCompareArrows, needs: 'spend:read' }],
  },
  { name: 'Requests', pages: [requests] },
  { name: 'Sessions', pages: [{ to: '/sessions', label: 'Sessions', icon: Workflow, needs: 'requests:read' }] },
  { name: 'Alerts', pages: [alerts] },
  {
    name: 'Limits',
    pages: [
      { to: '/limits', label: 'Limits', icon: SlidersHorizontal, needs: 'rules:read' },
      { to: '/raises', label: 'Raises', icon: HandCoins, needs: 'rules:read' },
      { to: '/reports', label: 'Reports', icon: FileChartColumn, needs: 'reports:read' },
    ],
  },
  {
    name: 'Prices and bills',
    pages: [
      { to: '/prices', label: 'Prices', icon: Tags, needs: 'spend:read-all' },
      { to: '/reconciliation', label: 'Reconciliation', icon: Scale, needs: 'spend:read-all' },
      { to: '/savings', label: 'Savings', icon: PiggyBank, needs: 'requests:read' },
    ],
  },
  {
    name: 'Access',
    pages: [
      access,
      keys,
      { to: '/tokens', label: 'API tokens', icon: SquareTerminal, needs: 'tokens:read' },
      { to: '/members', label: 'Members', icon: Users, needs: 'members:read' },
    ],
  },
  {
    name: 'Connect',
    pages: [
      { to: '/connect', label: 'Connect', icon: Plug, needs: 'keys:read' },
      { to: '/exports', label: 'Exports', icon: PackageOpen, needs: 'spend:read-all' },
    ],
  },
  {
    name: 'Account',
    pages: [
      { to: '/settings', label: 'Settings', icon: Settings, needs: 'account:write' },
      { to: '/billing', label: 'Billing', icon: CreditCard, needs: 'billing:read' },
      { to: '/audit', label: 'Audit log', icon: ScrollText, needs: 'audit:read' },
    ],
  },
] as const;

/** The pages in the bottom bar of a phone. The page "More" has the others. */
export const barPages = [overview, requests, alerts, keys, more] as const;

export type MenuPage = (typeof pageGroups)[number]['pages'][number] | typeof more;
