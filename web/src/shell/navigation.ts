import {
  BellRing,
  ChartColumnStacked,
  CreditCard,
  Ellipsis,
  FileChartColumn,
  GitCompareArrows,
  KeyRound,
  List,
  PackageOpen,
  Scale,
  ScrollText,
  Settings,
  SlidersHorizontal,
  SquareTerminal,
  Tags,
  Users,
  Workflow,
} from 'lucide-react';

const overview = { to: '/', label: 'Overview', icon: ChartColumnStacked, needs: 'spend:read' } as const;
const requests = { to: '/requests', label: 'Requests', icon: List, needs: 'requests:read' } as const;
const alerts = { to: '/alerts', label: 'Alerts', icon: BellRing, needs: 'rules:read' } as const;
const keys = { to: '/keys', label: 'Keys', icon: KeyRound, needs: 'keys:read' } as const;
const more = { to: '/more', label: 'More', icon: Ellipsis, needs: 'self:write' } as const;

/** The pages in the order of the side menu, by what people come for. */
export const pageGroups = [
  {
    name: 'Spend',
    pages: [
      overview,
      { to: '/compare', label: 'Compare', icon: GitCompareArrows, needs: 'spend:read' },
      requests,
      { to: '/sessions', label: 'Sessions', icon: Workflow, needs: 'requests:read' },
    ],
  },
  {
    name: 'Alerts and limits',
    pages: [
      alerts,
      { to: '/reports', label: 'Reports', icon: FileChartColumn, needs: 'rules:read' },
      { to: '/limits', label: 'Limits', icon: SlidersHorizontal, needs: 'rules:read' },
    ],
  },
  {
    name: 'Prices and bills',
    pages: [
      { to: '/prices', label: 'Prices', icon: Tags, needs: 'spend:read' },
      { to: '/reconciliation', label: 'Reconciliation', icon: Scale, needs: 'spend:read' },
      { to: '/exports', label: 'Exports', icon: PackageOpen, needs: 'spend:read' },
    ],
  },
  {
    name: 'Access',
    pages: [
      keys,
      { to: '/tokens', label: 'API tokens', icon: SquareTerminal, needs: 'tokens:read' },
      { to: '/members', label: 'Members', icon: Users, needs: 'members:read' },
    ],
  },
  {
    name: 'Account',
    pages: [
      { to: '/billing', label: 'Billing', icon: CreditCard, needs: 'billing:read' },
      { to: '/audit', label: 'Audit log', icon: ScrollText, needs: 'audit:read' },
      { to: '/settings', label: 'Settings', icon: Settings, needs: 'account:write' },
    ],
  },
] as const;

/** The pages in the bottom bar of a phone. The page "More" has the others. */
export const barPages = [overview, requests, alerts, keys, more] as const;

export type Page = (typeof pageGroups)[number]['pages'][number] | typeof more;
