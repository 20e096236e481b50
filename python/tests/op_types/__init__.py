# SPDX-License-Identifier: Apache-2.0
"""Every op with every type of its schema: cases, models and how they are judged."""
